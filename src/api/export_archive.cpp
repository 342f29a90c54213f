#include "api/export_archive.h"

#include <algorithm>
#include <set>

#include "api/export_report.h"
#include "api/finish_export.h"
#include "api/weights_in_place.h"
#include "cameo/version.h"
#include "backends/onnx/simplify_for_opset.h"
#include "backends/onnx/legalise.h"
#include "formats/mapped_file.h"
#include "frontends/recognise.h"
#include "frontends/text/parse.h"
#include "ops/schema.h"
#include "passes/dce.h"
#include "passes/outline.h"
#include "passes/rename_dims.h"
#include "staging/export/assumptions.h"

namespace cameo::api {

namespace {

std::string number_text(const Tensor& t) {
  if (t.count() != 1 || t.dtype() == DType::string || is_complex(t.dtype())) return "";
  if (t.dtype() == DType::boolean) return t.int_at(0) ? "True" : "False";
  if (is_int(t.dtype())) return cat(t.int_at(0));
  const std::string text = cat(t.double_at(0));
  return text.find_first_of(".en") == text.npos ? text + ".0" : text;
}

std::vector<ExampleInput> specs_of(const std::vector<NamedDatum>& examples) {
  std::vector<ExampleInput> out;
  for (const auto& [name, d] : examples) {
    if (d.kind != Datum::Kind::tensor) throw error("use.inputs", cat("the example '", name, "' is not a tensor"));
    out.push_back({name, d.tensor.dtype(), d.tensor.shape(), number_text(d.tensor)});
  }
  return out;
}

void set_custom_opsets(Model& m, const std::map<std::string, int64_t>& custom, DiagSink& sink) {
  for (const auto& [domain, version] : custom) {
    bool used = false;
    for (uint32_t i = 0; i < m.graph.node_capacity() && !used; ++i)
      used = !m.graph[NodeId(i)].dead && m.graph[NodeId(i)].op->domain == domain;
    if (used) m.opsets[domain] = version;
    else sink.warn("export.custom-opset", cat("no node is of the domain '", domain, "', so it is not imported"));
  }
}

SimplifyOptions simplify_options(const ExportOptions& options) {
  SimplifyOptions o;
  o.fold = options.stage.fold;
  if (!o.fold)
    o.skip = {"batchnorm-into-linear", "scale-into-linear", "shift-into-linear", "scale-into-norm",
              "shift-into-norm"};  // these compute weights
  return o;
}

// A file of ONNX functions; a model's text begins with a graph.
std::shared_ptr<const Model> load_rules(const std::string& path) {
  DiagSink diags;
  const Bytes file = map_file(path);
  auto m = std::make_shared<Model>(parse_text(
      cat("<ir_version: 10, opset_import: [\"\" : ", newest_released_opset, "]> rules () => () {} ", file.text()), path,
      diags));
  if (m->functions.empty()) throw error("use.rules", cat(path, " holds no function")).help("docs/export.md shows one");
  return m;
}

void collect_modules(const torchscript::StoredObject& o, const std::string& path, std::vector<OutlinedModule>& out) {
  for (const auto& a : o.attributes) {
    if (a.value->kind != torchscript::StoredKind::object || !a.value->object->cls) continue;
    const std::string inner = path.empty() ? std::string(a.name) : cat(path, ".", a.name);
    std::string name = torchscript::demangle(a.value->object->cls->qualified_name);
    if (name.starts_with("__torch__.")) name = name.substr(10);
    out.push_back({inner, name});
    collect_modules(*a.value->object, inner, out);
  }
}

// The modules that calls came from: "key,path,class;key,path,class", outermost first.
void collect_modules(const pt2::Program& program, std::vector<OutlinedModule>& out) {
  std::set<std::string, std::less<>> known;
  for (const json::Value node : program.graph()["nodes"].elements()) {
    const json::Value metadata = node.present("metadata");
    const json::Value all = metadata ? metadata.present("nn_module_stack") : json::Value();
    if (!all) continue;
    for (std::string_view rest = all.text(); !rest.empty();) {
      const std::string_view entry = rest.substr(0, rest.find(';'));
      rest.remove_prefix(std::min(entry.size() + 1, rest.size()));
      const auto [module, cls] = pt2::module_entry(entry);
      if (!module.empty() && !cls.empty() && known.emplace(module).second)
        out.push_back({std::string(module), std::string(cls)});
    }
  }
}

// Functions are written unchanged, so they may only have operators of the target opset.
void make_functions(std::vector<OutlinedModule> modules, Model& m, const ArchiveExport& how, DiagSink& sink) {
  for (const std::string& wanted : *how.functions) {
    const auto is = [&](const OutlinedModule& o) {
      return o.class_name == wanted || o.class_name.ends_with("." + wanted);
    };
    if (std::none_of(modules.begin(), modules.end(), is)) {
      std::set<std::string> names;
      for (const auto& o : modules) names.insert(o.class_name);
      std::string list;
      for (const std::string& n : names) list += cat(list.empty() ? "" : ", ", n);
      throw error("use.modules", cat("the archive has no module of the class '", wanted, "'"))
          .help(cat("it has: ", list));
    }
  }
  if (!how.functions->empty())
    std::erase_if(modules, [&](const OutlinedModule& o) {
      return std::none_of(how.functions->begin(), how.functions->end(),
                          [&](const std::string& w) { return o.class_name == w || o.class_name.ends_with("." + w); });
    });
  const int64_t opset = how.write.opset.value_or(newest_released_opset);
  if (opset < 15) throw error("use.opset", cat("functions came with opset 15, and ", opset, " is asked for"));
  onnx::LegaliseOptions legal;
  legal.lossy = how.write.lossy;
  auto result = onnx::legalise(m, opset, legal);
  if (!result.refusals.empty()) throw Error(std::move(result.refusals));
  m.opsets[""] = opset;
  outline_modules(m, std::move(modules), opset, sink);
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
  const bool want_nodes = how.trace || how.doc_strings;
  ExportTrace* trace = want_nodes || !how.inputs.empty() ? &out.trace : nullptr;
  std::vector<OutlinedModule> modules;
  std::optional<torchscript::Program> script;
  if (is_pt2) {
    auto program = pt2::read_pt2(file, path, options.method);
    if (program.models().size() > 1 && options.method != program.model_name())
      sink.note("export.method",
                cat("the package holds ", program.models().size(), " programs: this is '", program.model_name(), "'"));
    out.model = export_pt2(program, options, sink, trace);
    if (how.functions) collect_modules(program, modules);
  } else {
    script.emplace(torchscript::read_torchscript(file, path, taken_program(file, path, options.method)));
    out.model = export_torchscript(*script, options, sink, trace);
    if (how.functions) collect_modules(script->root(), "", modules);
  }
  Graph& g = out.model.graph;
  out.model.producer_version = std::string(version);
  name_values(g);
  if (want_nodes) user_places(g, out.trace);
  if (how.trace) {
    out.recorded = recorded_text(out);
    out.lowered = lowered_operators(out);
  }
  keep_outputs(g, how.keep_outputs);
  if (how.simplify)
    simplify_for_opset(out.model, how.write.opset.value_or(newest_released_opset), simplify_options(options),
                       how.write.lossy, &sink);
  if (!is_pt2)
    staging::rename_assumptions(out.model, options.rename_dims),
        rename_dims(g, options.rename_dims);  // the symbols of a .pt2 archive were renamed on the way
  if (how.functions) make_functions(std::move(modules), out.model, how, sink);
  if (how.doc_strings) doc_strings(g);
  if (how.number_weights) number_weights(g);
  set_custom_opsets(out.model, how.custom_opsets, sink);
  if (how.write.weights == WeightMode::in_place) weights_in_place(g, file, path, sink);
  require_whole_files();
  return out;
}

}  // namespace cameo::api
