#include "frontends/onnx/check.h"

#include "formats/mapped_file.h"
#include "frontends/onnx/checker.h"
#include "frontends/onnx/reader.h"
#include "ops/infer.h"
#include "support/progress.h"

namespace cameo::frontends {

namespace {

using namespace onnx;

// A name that bodies use for values of different types is ignored.
TypesByName types_by_name(const Graph& g) {
  TypesByName out;
  for (uint32_t i = 0; i < g.value_capacity(); ++i) {
    const Value& v = g[ValueId(i)];
    if (v.kind == Value::Kind::dead || v.name.empty()) continue;
    const auto [it, is_new] = out.try_emplace(v.name, v.fact.type);
    if (!is_new && (!it->second || !(*it->second == v.fact.type))) it->second.reset();
  }
  return out;
}

struct Inferred {
  Model model;  // owns the sizes that `names` mentions
  std::vector<Diag> reading, types;
  TypesByName names;
};

Inferred infer_types(const Bytes& bytes, const std::string& path, bool strict) {
  Inferred out;
  DiagSink warnings;
  try {
    Model& m = out.model = read_onnx(bytes, path, warnings);
    for (Diag& d : infer(m.graph, m.functions).findings) {
      if (strict || d.code != "infer.declared") d.severity = Severity::error;
      if (d.where.file.empty()) d.where.file = path;
      out.types.push_back(std::move(d));
    }
    out.names = types_by_name(m.graph);
  } catch (const Error& e) {
    if (e.exit_code() >= 3 || support::ends_work(e)) throw;
    for (const Diag& d : e.diags()) out.reading.push_back(d);
  }
  return out;
}

}  // namespace

std::vector<Diag> check_onnx(const std::string& path, const CheckOptions& options) {
  return check_onnx(map_file(path), path, options);
}

std::vector<Diag> check_onnx(Bytes bytes, const std::string& path, const CheckOptions& options) {
  const ModelProto proto{pb::Reader(bytes.text())};
  proto.in.throw_if_fault(path);
  if (proto.graphs.empty() || !proto.has_ir_version)
    throw error("file.not-onnx", cat(path.empty() ? "this" : path, " is not an ONNX model")).at({.file = path});
  Inferred inferred;
  if (options.types) inferred = infer_types(bytes, path, options.strict);
  DiagSink diags;
  TensorSource source(bytes, path);
  Checker(source, inferred.names, diags, options.strict).model(proto);
  proto.in.throw_if_fault(path);
  // What the reader could not understand is reported by the rules above, with the file's own names, or else here.
  if (!diags.has_errors())
    for (Diag& d : inferred.reading) diags.add(std::move(d));
  for (Diag& d : inferred.types) diags.add(std::move(d));
  return std::move(diags.all());
}

}  // namespace cameo::frontends
