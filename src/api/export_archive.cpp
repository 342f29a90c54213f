#include "api/export_archive.h"

#include <algorithm>

#include "api/export_functions.h"
#include "api/finish_export.h"
#include "formats/mapped_file.h"
#include "frontends/recognise.h"
#include "frontends/text/parse.h"
#include "ops/schema.h"
#include "support/number_text.h"

namespace cameo::api {

namespace {

std::string number_text(const Tensor& t) {
  if (t.count() != 1 || t.dtype() == DType::string || is_complex(t.dtype())) return "";
  if (t.dtype() == DType::boolean) return t.int_at(0) ? "True" : "False";
  if (is_int(t.dtype())) return cat(t.int_at(0));
  return fraction_text(t.double_at(0));
}

std::vector<ExampleInput> specs_of(const std::vector<NamedDatum>& examples) {
  std::vector<ExampleInput> out;
  for (const auto& [name, d] : examples) {
    if (d.kind != Datum::Kind::tensor) throw error("use.inputs", cat("the example '", name, "' is not a tensor"));
    out.push_back({name, d.tensor.dtype(), d.tensor.shape(), number_text(d.tensor)});
  }
  return out;
}

// A file of ONNX functions; a model's text begins with a graph.
std::shared_ptr<const Model> load_rules(const std::string& path) {
  DiagSink diags;
  const Bytes file = map_file(path);
  auto m = std::make_shared<Model>(parse_functions(file.text(), path, newest_released_opset, diags));
  if (m->functions.empty()) throw error("use.rules", cat(path, " holds no function")).help("docs/export.md shows one");
  return m;
}

// "1" of the method "1" or "1.encode", where the archive is a torch.package; what is left is the method's own name.
std::string taken_program(const Bytes& file, const std::string& path, std::string& method) {
  if (recognise(file, path).detail.empty()) return "";
  const size_t digits = std::min(method.find_first_not_of("0123456789"), method.size());
  const std::string program = method.substr(0, digits);
  if (digits < method.size() && method[digits] != '.') return "";
  method.erase(0, std::min(digits + 1, method.size()));
  if (method.empty()) method = "forward";
  return program;
}

}  // namespace

Exported export_archive(const std::string& path, const ArchiveExport& how, DiagSink& sink) {
  return export_archive(map_file(path), path, how, sink);
}

Exported export_archive(const Bytes& file, const std::string& path, const ArchiveExport& how, DiagSink& sink) {
  Exported out;
  ExportOptions options = how.options;
  if (!how.inputs.empty()) {
    out.examples = load_named(how.inputs);
    options.examples = specs_of(out.examples);
  }
  if (!how.rules.empty()) options.stage.rules = load_rules(how.rules);
  const bool is_pt2 = recognise(file, path).kind == FileKind::torch_export;
  ExportTrace* trace = how.trace || how.doc_strings || !how.inputs.empty() ? &out.trace : nullptr;
  std::vector<OutlinedModule> modules;
  std::optional<torchscript::Program> script;
  if (is_pt2) {
    auto program = pt2::read_pt2(file, path, options.method);
    if (program.models().size() > 1 && options.method != program.model_name())
      sink.note("export.method",
                cat("the package holds ", program.models().size(), " programs: this is '", program.model_name(), "'"));
    out.model = export_pt2(program, options, sink, trace);
    if (how.functions) modules = modules_of(program);
  } else {
    script.emplace(torchscript::read_torchscript(file, path, taken_program(file, path, options.method)));
    out.model = export_torchscript(*script, options, sink, trace);
    if (how.functions) modules = modules_of(*script);
  }
  finish_export({out, how, std::move(modules), file, path, is_pt2, sink});
  return out;
}

}  // namespace cameo::api
