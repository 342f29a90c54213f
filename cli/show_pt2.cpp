#include <algorithm>

#include "api/pt2_info.h"
#include "cli/show.h"
#include "formats/json.h"
#include "support/error.h"

namespace cameo::cli {

namespace {

void json_values(json::Writer& w, const std::vector<Pt2Value>& values) {
  w.array();
  for (const Pt2Value& v : values) w.object().key("name").value(v.name).key("type").value(v.type).end();
  w.end();
}

void print_json(const Pt2Info& info, const std::string& path, Out& out) {
  json::Writer w;
  const auto number = [&](const std::optional<int64_t>& v) { v ? w.value(*v) : w.null(); };
  const auto texts = [&](const std::vector<std::string>& list) {
    w.array();
    for (const std::string& s : list) w.value(s);
    w.end();
  };
  w.object().key("file").value(path).key("kind").value("torch.export").key("model").value(info.model).key("models");
  texts(info.models);
  w.key("torch_version")
      .value(info.torch_version)
      .key("schema_version")
      .value(info.schema)
      .key("training_ir")
      .value(info.training_ir);
  w.key("inputs");
  json_values(w, info.inputs);
  w.key("outputs");
  json_values(w, info.outputs);
  w.key("written");
  texts(info.written);
  w.key("dynamic_dims").array();
  for (const Pt2Size& s : info.sizes) {
    w.object().key("symbol").value(s.symbol).key("min");
    number(s.lo);
    w.key("max");
    number(s.hi);
    w.key("where").value(s.place).end();
  }
  w.end();
  json_operators(w, info.operators);
  w.key("tensors")
      .value(uint64_t{info.tensors})
      .key("parameters")
      .value(info.parameters)
      .key("weight_bytes")
      .value(info.weight_bytes)
      .end();
  out.line(w.text());
}

void print_values(std::string_view title, const std::vector<Pt2Value>& values, Out& out) {
  out.line(), out.line(title);
  size_t width = 0;
  for (const Pt2Value& v : values) width = std::max(width, std::min<size_t>(v.name.size(), 40));
  for (const Pt2Value& v : values) out.line(cat("  ", padded(v.name, width), "  ", v.type));
}

void print_people(const Pt2Info& info, const std::string& path, Out& out) {
  out.line(cat(path, ": torch.export archive",
               info.torch_version.empty() ? "" : cat(" of PyTorch ", info.torch_version), ", schema ", info.schema,
               info.training_ir ? ", not functional" : ""));
  if (info.models.size() > 1) out.line(cat("programs: ", joined(info.models), "; this is ", info.model));
  print_values("inputs", info.inputs, out);
  print_values("outputs", info.outputs, out);
  if (!info.written.empty()) out.line(), out.line(cat("written: ", joined(info.written)));
  out.line(), out.line(info.sizes.empty() ? "dynamic dims: none" : "dynamic dims");
  for (const Pt2Size& s : info.sizes)
    out.line(cat("  ", s.symbol, "  ", s.lo ? cat(*s.lo) : "", "..", s.hi ? cat(*s.hi) : "",
                 s.place.empty() ? "" : cat("  ", s.place)));
  print_operators(info.operators, out);
  out.line(), out.line(cat("parameters: ", count_text(info.parameters), " in ", info.tensors, " tensors, ",
                           bytes_text(info.weight_bytes)));
}

}  // namespace

int show_pt2(pt2::Program& program, bool text, Out& out) {
  if (text) {
    out.program(pt2_text(program));
    return 0;
  }
  const Pt2Info info = pt2_info(program);
  if (out.json) print_json(info, program.path(), out);
  else print_people(info, program.path(), out);
  return 0;
}

}  // namespace cameo::cli
