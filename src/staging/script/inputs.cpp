#include "staging/script/inputs.h"

#include <algorithm>
#include <charconv>

#include "lowering/complex.h"
#include "staging/export/input_sizes.h"
#include "support/number_text.h"

namespace cameo::staging {

namespace {

namespace ts = torchscript;
using staging::Machine;
using StagedValue = staging::Value;

std::string signature_of(const ts::FunctionDef& f) {
  std::string out = cat(f.name, "(");
  for (size_t i = 1; i < f.params.size(); ++i)
    out += cat(i > 1 ? ", " : "", f.params[i].name, ": ", f.params[i].type ? to_string(*f.params[i].type) : "?");
  return out + ")";
}

class Inputs {
 public:
  Inputs(ScriptInterpreter& script, const ExportOptions& options, const ts::FunctionDef& method, DiagSink& sink,
         ExportTrace* trace)
      : script_(script),
        s_(script.machine),
        g_(script.machine.graph),
        options_(options),
        method_(method),
        sink_(sink),
        trace_(trace),
        used_(options.examples.size()) {
    for (const auto& example : script.program.example_inputs())
      if (example.method == options.method) recorded_ = example.inputs;
  }

  std::vector<StagedValue> make() {
    check_names();
    std::vector<StagedValue> args;
    for (size_t i = 1; i < method_.params.size(); ++i) {
      const auto& p = method_.params[i];
      const std::string path(p.name);
      const ts::StoredValue* recorded = i - 1 < recorded_.size() ? recorded_[i - 1] : nullptr;
      const InputSpec* spec = spec_for(p.name, i - 1);
      if (!spec && !recorded && !nested(path) && !given(path)) {
        if (!p.default_value) no_shape(p);
        args.push_back(script_.default_value(p));
        continue;
      }
      args.push_back(argument(path, p.type, spec, recorded));
    }
    check_all_used();
    return args;
  }

 private:
  [[noreturn]] void no_shape(const ts::Param& p) {
    std::string flags;
    for (size_t i = 1; i < method_.params.size(); ++i)
      flags += cat(" --input '", method_.params[i].name, "=", ready_spec(method_.params[i].type), "'");
    throw error("use.input-missing",
                cat("the shape of argument '", p.name, "' is not known: this archive does not remember example inputs"))
        .why(cat("its signature is ", signature_of(method_)))
        .help(cat("say it:", flags));
  }
  static std::string_view ready_spec(const ts::Type* type) {
    while (type && type->is(ts::TypeKind::optional)) type = type->element();
    if (!type) return "f32[...]";
    switch (type->kind) {
      case ts::TypeKind::integer: return "1";
      case ts::TypeKind::floating: return "1.0";
      case ts::TypeKind::boolean: return "False";
      case ts::TypeKind::string: return "text";
      default: return "f32[...]";
    }
  }

  // By name when every given name is a parameter's; in order, renaming, when none is.
  void check_names() {
    const auto is_parameter = [&](const InputSpec& s) {
      const auto head = s.name.substr(0, s.name.find('.'));
      return std::any_of(method_.params.begin() + 1, method_.params.end(),
                         [&](const ts::Param& p) { return p.name == head; });
    };
    const auto& given = options_.inputs;
    by_name_ = std::all_of(given.begin(), given.end(), is_parameter);
    if (!by_name_ && std::any_of(given.begin(), given.end(), is_parameter))
      throw error("use.input-name", cat("the program has no parameter '",
                                        std::find_if_not(given.begin(), given.end(), is_parameter)->name, "'"))
          .why(cat("its signature is ", signature_of(method_)));
    if (!by_name_ && options_.inputs.size() > method_.params.size() - 1)
      throw error("use.input", cat(options_.inputs.size(), " inputs are given, and ", signature_of(method_), " takes ",
                                   method_.params.size() - 1))
          .help("name them as the parameters, or give at most that many, in order");
  }

  void check_all_used() const {
    const size_t inputs = g_[g_.main()].inputs.size();
    if (options_.input_names.size() > inputs)
      throw error("use.input-names", cat(options_.input_names.size(), " input names are given, and the model has ",
                                         inputs, inputs == 1 ? " input" : " inputs"));
    for (size_t i = 0; i < used_.size(); ++i)
      if (!used_[i])
        throw error("use.input-name", cat("there is an example for '", options_.examples[i].name,
                                          "', which is not an input of the model"))
            .help(cat("its signature is ", signature_of(method_)));
  }

  const InputSpec* spec_for(std::string_view name, size_t position) const {
    if (!by_name_) return position < options_.inputs.size() ? &options_.inputs[position] : nullptr;
    for (const InputSpec& s : options_.inputs)
      if (s.name == name) return &s;
    return nullptr;
  }
  bool nested(const std::string& path) const {
    const auto inside = [&](const auto& s) { return s.name.starts_with(path + "."); };
    return (by_name_ && std::any_of(options_.inputs.begin(), options_.inputs.end(), inside)) ||
           std::any_of(options_.examples.begin(), options_.examples.end(), inside);
  }

  std::string shown_name(const std::string& name) const {
    const size_t position = g_[g_.main()].inputs.size();
    return position < options_.input_names.size() ? options_.input_names[position] : name;
  }
  // The user's array for the argument that comes next.
  const ExampleInput* given(const std::string& name) const {
    const std::string shown = shown_name(name), numbered = cat("x", leaf_);
    for (const std::string& key : {name, shown, numbered, std::string()})
      for (size_t i = 0; i < options_.examples.size(); ++i)
        if (options_.examples[i].name == key && !used_[i]) return &options_.examples[i];
    return nullptr;
  }
  const ExampleInput* take(const std::string& name) {
    const ExampleInput* e = given(name);
    ++leaf_;
    if (e) used_[static_cast<size_t>(e - options_.examples.data())] = true;
    return e;
  }

  static bool is_plain_number(const ts::Type* type, const ts::StoredValue* recorded) {
    while (type && type->is(ts::TypeKind::optional)) type = type->element();
    if (!type) return recorded && recorded->kind != ts::StoredKind::tensor;
    return type->is(ts::TypeKind::integer) || type->is(ts::TypeKind::floating) || type->is(ts::TypeKind::boolean) ||
           type->is(ts::TypeKind::number);
  }

  StagedValue argument(const std::string& path, const ts::Type* type, const InputSpec* spec,
                       const ts::StoredValue* recorded) {
    if (spec && spec->fixed) {
      take(path);
      if (type && type->is(ts::TypeKind::tensor)) check_value_of_tensor(path, *spec->fixed);
      return fixed(path, *spec->fixed);
    }
    const std::string name = spec && !by_name_ ? spec->name : path;
    const bool structured =
        recorded && (recorded->kind == ts::StoredKind::list || recorded->kind == ts::StoredKind::tuple ||
                     recorded->kind == ts::StoredKind::dict);
    if (!(spec && spec->dtype)) {
      if (structured) return from_recorded(path, *recorded, type);
      if (!recorded && !given(name)) return structure(path, type);
    }
    const ExampleInput* example = take(name);
    if (!(spec && spec->dtype) && example && is_plain_number(type, recorded)) {
      if (example->number.empty())
        throw error("use.input", cat("argument '", path, "' is a number, and the example for it is an array"));
      return fixed(path, example->number);
    }
    if (!(spec && spec->dtype) && !example) return from_recorded(path, *recorded);
    try {
      return of_type(type, tensor(name, spec, example, recorded));
    } catch (const Raised& r) {
      throw error("use.input", cat("argument '", path, "' is a number of the program: ", r.message))
          .why(cat("its signature is ", signature_of(method_)))
          .help(cat("give it a value, --input '", name, "=", ready_spec(type),
                    "', or a tensor of one element, --input '", name, "=f32[]'"));
    }
  }

  // A tensor that stands for a plain number of the program.
  StagedValue of_type(const ts::Type* type, const StagedValue& v) {
    while (type && type->is(ts::TypeKind::optional)) type = type->element();
    if (!type) return v;
    if (type->is(ts::TypeKind::integer)) return s_.int_from(v);
    if (type->is(ts::TypeKind::floating)) return s_.float_from(v);
    if (type->is(ts::TypeKind::boolean)) return s_.bool_from(v);
    return v;
  }

  // The class of a NamedTuple: its fields have names besides their places.
  const ts::ClassDef* named_tuple(const ts::Type* type) {
    const ts::ClassDef* cls = type && type->is(ts::TypeKind::named) ? script_.program.class_of(*type) : nullptr;
    return cls && cls->kind == ts::ClassKind::named_tuple ? cls : nullptr;
  }
  // The path of field i: by its name where that is what is given, else by its place.
  std::string field_path(const std::string& path, const ts::ClassDef* cls, size_t i) const {
    if (!cls || i >= cls->attributes.size()) return cat(path, ".", i);
    const std::string by_place = cat(path, ".", i), by_field = cat(path, ".", cls->attributes[i].name);
    return said(by_place) ? by_place : by_field;
  }
  bool said(const std::string& path) const {
    return (by_name_ && spec_for(path, SIZE_MAX)) || nested(path) || named_example(path);
  }
  StagedValue fields(const std::string& path, const ts::ClassDef& cls) {
    std::vector<StagedValue> parts;
    for (size_t i = 0; i < cls.attributes.size(); ++i) {
      const std::string inner = field_path(path, &cls, i);
      if (!said(inner))
        throw error("use.input-missing",
                    cat("the field '", cls.attributes[i].name, "' of argument '", path, "' is not given"))
            .help(cat("add --input '", inner, "=", ready_spec(cls.attributes[i].type), "'"));
      parts.push_back(argument(inner, cls.attributes[i].type, spec_for(inner, SIZE_MAX), nullptr));
    }
    return StagedValue::tuple(std::move(parts), &cls);
  }

  // Nested inputs that are given only by path.
  StagedValue structure(const std::string& path, const ts::Type* type) {
    while (type && type->is(ts::TypeKind::optional)) type = type->element();
    if (const ts::ClassDef* cls = named_tuple(type)) return fields(path, *cls);
    std::vector<StagedValue> parts;
    for (size_t i = 0;; ++i) {
      const std::string inner = cat(path, ".", i);
      const InputSpec* spec = by_name_ ? spec_for(inner, SIZE_MAX) : nullptr;
      if (!said(inner)) break;
      const ts::Type* part = type && type->is(ts::TypeKind::list)                             ? type->element()
                             : type && type->is(ts::TypeKind::tuple) && i < type->args.size() ? type->args[i]
                                                                                              : nullptr;
      parts.push_back(argument(inner, part, spec, nullptr));
    }
    if (!parts.empty())
      return type && type->is(ts::TypeKind::tuple) ? StagedValue::tuple(std::move(parts)) : s_.list(std::move(parts));
    std::vector<std::pair<StagedValue, StagedValue>> entries;
    for (const InputSpec& s : options_.inputs)
      if (s.name.starts_with(path + "."))
        entries.emplace_back(StagedValue(s.name.substr(path.size() + 1)), argument(s.name, nullptr, &s, nullptr));
    for (const ExampleInput& e : options_.examples)
      if (e.name.starts_with(path + ".") && !spec_for(e.name, SIZE_MAX))
        entries.emplace_back(StagedValue(e.name.substr(path.size() + 1)), argument(e.name, nullptr, nullptr, nullptr));
    return s_.dict(std::move(entries));
  }
  bool named_example(const std::string& path) const {
    return std::any_of(options_.examples.begin(), options_.examples.end(),
                       [&](const ExampleInput& e) { return e.name == path; });
  }

  StagedValue from_recorded(const std::string& path, const ts::StoredValue& v, const ts::Type* type = nullptr) {
    switch (v.kind) {
      case ts::StoredKind::tensor: return tensor(path, nullptr, nullptr, &v);
      case ts::StoredKind::list:
      case ts::StoredKind::tuple: {
        std::vector<StagedValue> parts;
        const ts::ClassDef* cls = named_tuple(type);
        for (size_t i = 0; i < v.items.size(); ++i) {
          const std::string inner = field_path(path, cls, i);
          parts.push_back(argument(inner, nullptr, by_name_ ? spec_for(inner, SIZE_MAX) : nullptr, v.items[i]));
        }
        return v.kind == ts::StoredKind::tuple ? StagedValue::tuple(std::move(parts), cls) : s_.list(std::move(parts));
      }
      case ts::StoredKind::dict: {
        std::vector<std::pair<StagedValue, StagedValue>> entries;
        for (size_t i = 0; i + 1 < v.items.size(); i += 2) {
          const StagedValue key = script_.stored.from(*v.items[i]);
          const auto* text = key.as<std::string>();
          const std::string inner = cat(path, ".", text ? *text : std::to_string(i / 2));
          entries.emplace_back(
              key, argument(inner, nullptr, by_name_ ? spec_for(inner, SIZE_MAX) : nullptr, v.items[i + 1]));
        }
        return s_.dict(std::move(entries));
      }
      default:
        sink_.note("export.fixed-input",
                   cat("input '", path, "' is not a tensor: fixed at the value it was traced with"));
        return script_.stored.from(v);
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

  StagedValue tensor(const std::string& name, const InputSpec* spec, const ExampleInput* example,
                     const ts::StoredValue* recorded) {
    const auto* known = recorded && recorded->kind == ts::StoredKind::tensor ? recorded->tensor : nullptr;
    std::vector<int64_t> sizes;
    if (example) sizes = example->sizes;
    else if (known) sizes.assign(known->sizes.begin(), known->sizes.end());
    const auto dtype = spec      ? spec->dtype
                       : example ? std::optional(example->dtype)
                                 : dtype_from_torch(static_cast<int64_t>(known->dtype));
    if (!dtype) throw error("stage.input", cat("input '", name, "' has a dtype that ONNX does not have"));
    Shape shape;
    for (size_t i = 0; spec && i < spec->dims.size(); ++i) {
      const bool open = spec->dims[i] == "_";
      if (open && i >= sizes.size())
        throw error("use.input", cat("input '", name, "': the archive does not say size ", i))
            .help("write a number or a name in place of '_'");
      shape.push_back(open ? Dim(sizes[i]) : input_size(g_, name, spec->dims[i]));
    }
    if (!spec) shape.assign(sizes.begin(), sizes.end());
    const std::string shown = shown_name(name);
    for (const DynamicAxis& a : options_.dynamic_axes) {
      if (a.value != shown && a.value != name) continue;
      const int64_t axis = a.axis < 0 ? a.axis + static_cast<int64_t>(shape.size()) : a.axis;
      if (axis < 0 || axis >= static_cast<int64_t>(shape.size()))
        throw error("use.dynamic-axes", cat("input '", shown, "' has no axis ", a.axis))
            .why(cat("it has ", shape.size(), " axes"));
      shape[static_cast<size_t>(axis)] = input_size(g_, shown, a.name);
    }
    const bool complex = is_complex(*dtype);
    if (complex) {
      shape.push_back(Dim(2));
      sink_.note("export.complex",
                 cat("input '", shown, "' is complex: real and imaginary parts along a new last axis"));
    }
    const ValueId v = g_.add_input(g_.main(), shown, Type::tensor(complex ? real_type(*dtype) : *dtype, shape));
    for (size_t i = 0; known && i < shape.size() && i < known->sizes.size(); ++i)
      if (!shape[i].is_literal()) s_.declare_example(shape[i], known->sizes[i]);
    if (trace_) trace_->input_names.push_back(example ? example->name : "");
    for (size_t i = 0; i < shape.size(); ++i) s_.on.bind_axis(shape[i], v, static_cast<int64_t>(i));
    return s_.tensor(complex ? complex_of_pair(s_.on, v) : V(v), shown, staging::Layout::contiguous());
  }

  ScriptInterpreter& script_;
  Machine& s_;
  Graph& g_;
  const ExportOptions& options_;
  const ts::FunctionDef& method_;
  DiagSink& sink_;
  ExportTrace* trace_;
  std::vector<const ts::StoredValue*> recorded_;
  std::vector<bool> used_;  // examples that were taken
  size_t leaf_ = 0;         // arguments taken so far, parts of structures counted one by one
  bool by_name_ = true;
};

}  // namespace

std::vector<StagedValue> stage_inputs(ScriptInterpreter& script, const ExportOptions& options,
                                      const ts::FunctionDef& method, DiagSink& sink, ExportTrace* trace) {
  return Inputs(script, options, method, sink, trace).make();
}

}  // namespace cameo::staging
