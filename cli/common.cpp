#include "cli/common.h"

#include "support/error.h"

namespace cameo::cli {

Model open_model(const std::string& path, Out& out) {
  DiagSink diags;
  Model m = load_model(path, diags);
  out.diags(diags.all());
  return m;
}

Model& open_to_stay(const std::string& path, Out& out) {
  static Model* const model = new Model(open_model(path, out));
  return *model;
}

WriteOptions write_options(const Args& args) {
  WriteOptions w;
  const std::string mode = args.text("weights", "keep");
  if (mode == "keep") w.weights = WeightMode::keep;
  else if (mode == "embed") w.weights = WeightMode::embed;
  else if (mode == "external") w.weights = WeightMode::external;
  else throw error("use.value", cat("--weights is keep, embed or external, not '", mode, "'"));
  w.durable = args.has("durable");
  return w;
}

void write_model(Model& m, const std::string& source, const std::string& target, const Verb& verb, const Args& args, WriteOptions options, Out& out) {
  if (!args.has("no-provenance")) {
    Provenance p;
    if (source != "-") p.source_sha256 = file_sha256(source);
    p.command = verb.name;
    for (const auto& given : args.given()) p.command += given.value.empty() ? cat(" --", given.flag) : cat(" --", given.flag, "=", given.value);
    note_provenance(m, p);
  }
  DiagSink diags;
  save_model(m, target, options, &diags);
  out.diags(diags.all());
}

std::string type_text(const Type& t) {
  switch (t.kind) {
    case Type::Kind::unknown: return "?";
    case Type::Kind::sequence: return cat("seq(", t.inner ? type_text(*t.inner) : "?", ")");
    case Type::Kind::optional: return cat("optional(", t.inner ? type_text(*t.inner) : "?", ")");
    case Type::Kind::map: return cat("map(", name(t.elem), ", ", t.inner ? type_text(*t.inner) : "?", ")");
    case Type::Kind::tensor:
    case Type::Kind::sparse_tensor: break;
  }
  std::string out(t.elem == DType::undefined ? "?" : name(t.elem));
  if (t.kind == Type::Kind::sparse_tensor) out = "sparse " + out;
  if (!t.has_rank()) return out + "[...]";
  out += "[";
  for (size_t i = 0; i < t.shape->size(); ++i) {
    const Dim d = (*t.shape)[i];
    out += cat(i ? "," : "", d.is_symbol() && is_fresh(d) ? "?" : d.text());
  }
  return out + "]";
}

std::string plural(size_t n, std::string_view one) { return cat(n, " ", one, n == 1 ? "" : "s"); }

}  // namespace cameo::cli
