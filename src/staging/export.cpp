#include "staging/export.h"

#include <algorithm>
#include <charconv>

#include "formats/mapped_file.h"
#include "frontends/recognise.h"
#include "lowering/complex.h"
#include "passes/dce.h"
#include "staging/input_sizes.h"
#include "staging/outputs.h"
#include "support/number_text.h"

namespace cameo {

namespace {

namespace ts = torchscript;
using staging::Stager;
using StagedValue = staging::Value;

std::string signature_of(const ts::FunctionDef& f) {
  std::string out = cat(f.name, "(");
  for (size_t i = 1; i < f.params.size(); ++i) out += cat(i > 1 ? ", " : "", f.params[i].name, ": ", f.params[i].type ? to_string(*f.params[i].type) : "?");
  return out + ")";
}

class Inputs {
 public:
  Inputs(ts::Program& program, Stager& stager, Model& model, const ExportOptions& options, const ts::FunctionDef& method, DiagSink& sink)
      : program_(program), s_(stager), g_(model.graph), options_(options), method_(method), sink_(sink) {
    for (const auto& example : program.example_inputs())
      if (example.method == options.method) examples_ = example.inputs;
  }

  std::vector<StagedValue> make() {
    check_names();
    std::vector<StagedValue> args;
    for (size_t i = 1; i < method_.params.size(); ++i) {
      const auto& p = method_.params[i];
      const ts::StoredValue* example = i - 1 < examples_.size() ? examples_[i - 1] : nullptr;
      const InputSpec* spec = spec_for(p.name, i - 1);
      if (!spec && !example && !nested_spec(std::string(p.name))) {
        if (p.default_value) break;
        no_shape(p);
      }
      args.push_back(argument(std::string(p.name), p.type, spec, example));
    }
    return args;
  }

 private:
  [[noreturn]] void no_shape(const ts::Param& p) {
    std::string flags;
    for (size_t i = 1; i < method_.params.size(); ++i) flags += cat(" --input '", method_.params[i].name, "=f32[...]'");
    throw error("use.input-missing", cat("the shape of argument '", p.name, "' is not known: this archive does not remember example inputs"))
        .why(cat("its signature is ", signature_of(method_)))
        .help(cat("say it:", flags));
  }

  // By name when every given name is a parameter's; else in order, renaming.
  void check_names() {
    by_name_ = std::all_of(options_.inputs.begin(), options_.inputs.end(), [&](const InputSpec& s) {
      const auto head = s.name.substr(0, s.name.find('.'));
      return std::any_of(method_.params.begin() + 1, method_.params.end(), [&](const ts::Param& p) { return p.name == head; });
    });
    if (!by_name_ && options_.inputs.size() > method_.params.size() - 1)
      throw error("use.input", cat(options_.inputs.size(), " inputs are given, and ", signature_of(method_), " takes ", method_.params.size() - 1));
  }

  const InputSpec* spec_for(std::string_view name, size_t position) const {
    if (!by_name_) return position < options_.inputs.size() ? &options_.inputs[position] : nullptr;
    for (const InputSpec& s : options_.inputs)
      if (s.name == name) return &s;
    return nullptr;
  }
  bool nested_spec(const std::string& path) const {
    return by_name_ && std::any_of(options_.inputs.begin(), options_.inputs.end(), [&](const InputSpec& s) { return s.name.starts_with(path + "."); });
  }

  StagedValue argument(const std::string& path, const ts::Type* type, const InputSpec* spec, const ts::StoredValue* example) {
    if (spec && spec->fixed) return fixed(path, *spec->fixed);
    if (spec && spec->dtype) return tensor(by_name_ ? path : spec->name, *spec, example);
    while (type && type->is(ts::TypeKind::optional) && (!example || example->kind != ts::StoredKind::none)) type = type->element();
    if (example) return from_example(path, *example);
    return structure(path, type);
  }

  // Nested inputs given by path alone.
  StagedValue structure(const std::string& path, const ts::Type* type) {
    std::vector<StagedValue> parts;
    for (size_t i = 0;; ++i) {
      const std::string inner = cat(path, ".", i);
      const InputSpec* spec = spec_for(inner, SIZE_MAX);
      if (!spec && !nested_spec(inner)) break;
      const ts::Type* part = type && type->is(ts::TypeKind::list) ? type->element() : type && type->is(ts::TypeKind::tuple) && i < type->args.size() ? type->args[i] : nullptr;
      parts.push_back(argument(inner, part, spec, nullptr));
    }
    if (!parts.empty()) return type && type->is(ts::TypeKind::tuple) ? StagedValue::tuple(std::move(parts)) : s_.list(std::move(parts));
    std::vector<std::pair<StagedValue, StagedValue>> entries;
    for (const InputSpec& s : options_.inputs)
      if (s.name.starts_with(path + ".")) entries.emplace_back(StagedValue(s.name.substr(path.size() + 1)), argument(s.name, nullptr, &s, nullptr));
    return s_.dict(std::move(entries));
  }

  StagedValue from_example(const std::string& path, const ts::StoredValue& v) {
    switch (v.kind) {
      case ts::StoredKind::tensor: {
        InputSpec spec;
        spec.name = path;
        spec.dtype = dtype_from_torch(static_cast<int64_t>(v.tensor->dtype));
        if (!spec.dtype) throw error("stage.input", cat("input '", path, "' has a dtype that ONNX does not have"));
        for (const int64_t d : v.tensor->sizes) spec.dims.push_back(cat(d));
        return tensor(path, spec, &v);
      }
      case ts::StoredKind::list: case ts::StoredKind::tuple: {
        std::vector<StagedValue> parts;
        for (size_t i = 0; i < v.items.size(); ++i) {
          const std::string inner = cat(path, ".", i);
          const InputSpec* spec = spec_for(inner, SIZE_MAX);
          parts.push_back(argument(inner, nullptr, by_name_ ? spec : nullptr, v.items[i]));
        }
        return v.kind == ts::StoredKind::tuple ? StagedValue::tuple(std::move(parts)) : s_.list(std::move(parts));
      }
      case ts::StoredKind::dict: {
        std::vector<std::pair<StagedValue, StagedValue>> entries;
        for (size_t i = 0; i + 1 < v.items.size(); i += 2) {
          const StagedValue key = s_.from_stored(*v.items[i]);
          const auto* text = key.as<std::string>();
          entries.emplace_back(key, from_example(cat(path, ".", text ? *text : std::to_string(i / 2)), *v.items[i + 1]));
        }
        return s_.dict(std::move(entries));
      }
      default:
        sink_.note("export.fixed-input", cat("input '", path, "' is no tensor: fixed at the value it was traced with"));
        return s_.from_stored(v);
    }
  }

  StagedValue fixed(const std::string& path, std::string_view text) {
    sink_.note("export.fixed-input", cat("input '", path, "' is fixed at ", text));
    if (text == "None") return {};
    if (text == "True" || text == "False") return text == "True";
    if (text.starts_with('\'') || text.starts_with('"')) return std::string(text.substr(1, text.size() - 2));
    if (text.starts_with('[') || text.starts_with('(')) {
      std::vector<StagedValue> parts;
      auto inside = text.substr(1, text.size() - 2);
      while (!inside.empty()) {
        const auto comma = std::min(inside.find(','), inside.size());
        auto item = inside.substr(0, comma);
        while (item.starts_with(' ')) item.remove_prefix(1);
        if (!item.empty()) parts.push_back(fixed(path, item));
        inside.remove_prefix(std::min(comma + 1, inside.size()));
      }
      return text.starts_with('(') ? StagedValue::tuple(std::move(parts)) : s_.list(std::move(parts));
    }
    int64_t whole = 0;
    const char* end = text.data() + text.size();
    if (const auto r = std::from_chars(text.data(), end, whole); r.ec == std::errc() && r.ptr == end) return Dim(whole);
    if (const auto real = parse_double(text)) return *real;
    return std::string(text);
  }

  StagedValue tensor(const std::string& name, const InputSpec& spec, const ts::StoredValue* example) {
    Shape shape;
    const auto* known = example && example->kind == ts::StoredKind::tensor ? example->tensor : nullptr;
    for (size_t i = 0; i < spec.dims.size(); ++i) {
      if (spec.dims[i] == "_" && !(known && i < known->sizes.size())) throw error("use.input", cat("input '", name, "': the archive does not say size ", i));
      shape.push_back(spec.dims[i] == "_" ? Dim(known->sizes[i]) : input_size(g_, name, spec.dims[i]));
    }
    const size_t position = g_[g_.main()].inputs.size();
    const std::string shown = position < options_.input_names.size() ? options_.input_names[position] : name;
    for (const DynamicAxis& a : options_.dynamic_axes) {
      if (a.value != shown && a.value != name) continue;
      const int64_t axis = a.axis < 0 ? a.axis + static_cast<int64_t>(shape.size()) : a.axis;
      if (axis < 0 || axis >= static_cast<int64_t>(shape.size())) throw error("use.input", cat("input '", shown, "' has no axis ", a.axis));
      shape[static_cast<size_t>(axis)] = input_size(g_, shown, a.name);
    }
    const bool complex = is_complex(*spec.dtype);
    if (complex) {
      shape.push_back(Dim(2));
      sink_.note("export.complex", cat("input '", shown, "' is complex: real and imaginary parts along a new last axis"));
    }
    const ValueId v = g_.add_input(g_.main(), shown, Type::tensor(complex ? real_type(*spec.dtype) : *spec.dtype, shape));
    for (size_t i = 0; known && i < shape.size() && i < known->sizes.size(); ++i)
      if (!shape[i].is_literal()) s_.declare_example(shape[i], known->sizes[i]);
    for (size_t i = 0; i < shape.size(); ++i) s_.on.bind_axis(shape[i], v, static_cast<int64_t>(i));
    return s_.tensor(complex ? complex_of_pair(s_.on, v) : V(v), shown);
  }

  ts::Program& program_;
  Stager& s_;
  Graph& g_;
  const ExportOptions& options_;
  const ts::FunctionDef& method_;
  DiagSink& sink_;
  std::vector<const ts::StoredValue*> examples_;
  bool by_name_ = true;
};

}  // namespace

Model export_torchscript(ts::Program& program, const ExportOptions& options, DiagSink& sink) {
  Model model;
  model.path = program.path();
  model.opsets[""] = newest_released_opset;
  model.producer_name = "cameo";
  model.graph.region(model.graph.main()).name = "main";
  const ts::ClassDef* cls = program.root().cls;
  const ts::FunctionDef* method = cls ? cls->method(options.method) : nullptr;
  if (!method) throw error("use.method", cat("the archive's root has no method '", options.method, "'"));
  Stager stager(program, model, options.stage, sink);
  auto args = Inputs(program, stager, model, options, *method, sink).make();
  const StagedValue result = stager.run(*method, std::move(args));
  std::vector<staging::Output> outputs;
  staging::flatten_outputs(stager, result, "output", outputs, sink);
  if (!stager.missing().empty()) staging::throw_missing(stager.missing());
  if (outputs.empty()) throw error("export.no-output", "nothing that the model returns depends on a tensor");
  staging::set_outputs(stager, std::move(outputs), options, sink);
  remove_dead_code(model.graph);
  staging::report_frozen(model.graph, options, sink, &stager);
  return model;
}

Model export_archive(const std::string& path, const ExportOptions& options, DiagSink& sink) {
  const Bytes file = map_file(path);
  if (zip::looks_like_zip(file.text()) && recognise_zip(zip::Archive(file, path)).kind == FileKind::torch_export) {
    auto program = pt2::read_pt2(file, path);
    return export_pt2(program, options, sink);
  }
  auto program = ts::read_torchscript(file, path);
  return export_torchscript(program, options, sink);
}

}  // namespace cameo
