// The command's verbs on models: each function gives a new model.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>

#include "bindings.h"
#include "cameo/check.h"
#include "cameo/convert.h"
#include "cameo/edit.h"
#include "cameo/operators.h"
#include "cameo/simplify.h"
#include "cameo/verify.h"
#include "own_kernels.h"
#include "samples.h"
#include "words.h"

namespace cameo::python {

Progress progress_of(nb::object function) {
  if (function.is_none()) return {};
  return [owner = keep(std::move(function))](const char* what, uint64_t done, uint64_t all) {
    const nb::gil_scoped_acquire gil;
    nb::object go_on = nb::handle(static_cast<PyObject*>(const_cast<void*>(owner.get())))(what, done, all);
    return go_on.is_none() || nb::cast<bool>(nb::bool_(go_on));
  };
}

namespace {

std::string text_of(nb::handle h) { return nb::cast<std::string>(nb::str(h)); }

SimplifySettings simplify_settings(nb::dict given) {
  Options o(std::move(given));
  SimplifySettings s;
  s.skip = o.texts("skip");
  s.only = o.texts("only");
  s.without = o.texts("without");
  s.exact = o.flag("exact");
  s.freeze_initializers = o.flag("freeze_initializers");
  s.fuse = o.flag("fuse", true);
  s.fold = o.flag("fold", true);
  s.sizes_may_be_zero = o.flag("sizes_may_be_zero");
  s.unroll = static_cast<int>(o.integer("unroll", 0));
  static constexpr std::array<std::pair<const char*, FunctionCalls>, 3> calls{
      {{"auto", FunctionCalls::automatic}, {"keep", FunctionCalls::keep}, {"inline", FunctionCalls::inlined}}};
  s.functions = o.choice("functions", calls);
  s.check = static_cast<int>(o.integer("check", 0));
  s.rtol = o.number("rtol");
  s.atol = o.number("atol");
  s.check_sizes = sizes_of(o.object("sizes"));
  s.kernels = kernels_of(o.object("kernels"));
  if (nb::object shapes = o.object("check_shapes"); !shapes.is_none())
    for (nb::handle entry : entries(shapes))
      s.check_shapes[nb::cast<std::string>(entry[0])] = int_list(nb::object(entry[1]));
  if (nb::object shapes = o.object("input_shapes"); !shapes.is_none())
    for (nb::handle entry : entries(shapes))
      s.input_shapes[nb::cast<std::string>(entry[0])] = text_list(nb::object(entry[1]));
  s.shapes = o.flag("shapes", true);
  s.progress = progress_of(o.object("progress"));
  o.finish();
  return s;
}

// (the model, [(rule, value), ...], sets of inputs that were compared, the largest difference)
nb::tuple simplify_model(const Model& from, nb::dict given) {
  const SimplifySettings settings = simplify_settings(std::move(given));
  Simplified s = released([&] { return simplify(from, settings); });
  nb::list rewrites;
  for (const Rewriting& r : s.ledger) rewrites.append(nb::make_tuple(r.rule, name_text(r.value)));
  return nb::make_tuple(std::move(s.model), rewrites, s.checked, s.worst);
}

ConvertSettings convert_settings(const Model& from, nb::dict given) {
  static constexpr std::array<std::pair<const char*, FloatType>, 4> types{
      {{"", FloatType::keep}, {"f16", FloatType::f16}, {"bf16", FloatType::bf16}, {"mixed", FloatType::mixed}}};
  Options o(std::move(given));
  ConvertSettings settings;
  settings.opset = static_cast<int>(o.integer("opset", 0));
  settings.lossy = o.flag("lossy");
  settings.float_type = o.choice("float_type", types);
  settings.keep_io = o.flag("keep_io");
  settings.keep = o.texts("keep");
  settings.inline_functions = o.flag("inline_functions");
  settings.to_qdq = o.flag("to_qdq");
  settings.exact_rounding = o.flag("exact_rounding");
  settings.quantized = o.text("quantized", "");
  settings.samples = sample_source(from, o.object("samples"), o.text("image", ""));
  settings.max_error = o.number("max_error");
  settings.check = o.flag("check", true);
  settings.target = o.text("target", "");
  settings.threads = static_cast<int>(o.integer("threads", 0));
  settings.kernels = kernels_of(o.object("kernels"));
  settings.progress = progress_of(o.object("progress"));
  o.finish();
  return settings;
}

Model convert_model(const Model& from, nb::dict given) {
  const ConvertSettings settings = convert_settings(from, std::move(given));
  return released([&] { return convert(from, settings).model; });
}

// (model, report as JSON, findings)
nb::tuple half_model(const Model& from, nb::dict given) {
  const ConvertSettings settings = convert_settings(from, std::move(given));
  Converted c = released([&] { return convert(from, settings); });
  return nb::make_tuple(std::move(c.model), to_json(c.half), diag_list(c.findings));
}

Model merge_models(const Model& a, const Model& b, nb::dict connect, bool keep_connected) {
  MergeSettings settings;
  for (nb::handle entry : entries(connect))
    settings.connect.emplace_back(text_of(nb::object(entry[0])), text_of(nb::object(entry[1])));
  settings.keep_connected = keep_connected;
  return released([&] { return merge(a, b, settings); });
}

void append_nms(Editor& editor, nb::dict given) {
  using Layout = NmsSettings::Layout;
  static constexpr std::array<std::pair<const char*, Layout>, 3> layouts{
      {{"", Layout::by_sizes}, {"classes_first", Layout::classes_first}, {"classes_last", Layout::classes_last}}};
  Options o(std::move(given));
  NmsSettings settings;
  const std::string boxes = o.text("boxes"), scores = o.text("scores");
  settings.iou = static_cast<float>(o.number("iou").value_or(settings.iou));
  settings.score = static_cast<float>(o.number("score").value_or(settings.score));
  settings.max_per_class = o.integer("max_per_class", settings.max_per_class);
  settings.center = o.flag("center");
  settings.layout = o.choice("layout", layouts);
  o.finish();
  editor.append_nms(boxes, scores, settings);
}

using Arguments = nb::tuple;
struct Edit {
  const char* name;
  size_t arguments;
  void (*apply)(Editor&, const Arguments&);
};
constexpr Edit edits[] = {
    {"add_output", 1, [](Editor& e, const Arguments& a) { e.add_output(text_of(a[0])); }},
    {"remove_output", 1, [](Editor& e, const Arguments& a) { e.remove_output(text_of(a[0])); }},
    {"remove_input", 1, [](Editor& e, const Arguments& a) { e.remove_input(text_of(a[0])); }},
    {"insert", 1, [](Editor& e, const Arguments& a) { e.insert_node(text_of(a[0])); }},
    {"remove_node", 1, [](Editor& e, const Arguments& a) { e.remove_node(text_of(a[0])); }},
    {"strip", 0, [](Editor& e, const Arguments&) { e.strip(); }},
    {"fix_shape", 2, [](Editor& e, const Arguments& a) { e.fix_shape(text_of(a[0]), text_list(a[1])); }},
    {"set_dim", 3, [](Editor& e, const Arguments& a) { e.set_dim(text_of(a[0]), nb::cast<int>(a[1]), text_of(a[2])); }},
    {"set_attribute", 3,
     [](Editor& e, const Arguments& a) { e.set_attribute(text_of(a[0]), text_of(a[1]), text_of(a[2])); }},
    {"rename", 2, [](Editor& e, const Arguments& a) { e.rename(text_of(a[0]), text_of(a[1])); }},
    {"set_operator", 2, [](Editor& e, const Arguments& a) { e.set_operator(text_of(a[0]), text_of(a[1])); }},
    {"rewire", 2, [](Editor& e, const Arguments& a) { e.rewire(text_of(a[0]), text_of(a[1])); }},
    {"set_initializer", 2,
     [](Editor& e, const Arguments& a) { e.set_weight(text_of(a[0]), to_array(a[1], e.dtype(text_of(a[0])))); }},
    {"append_nms", 1, [](Editor& e, const Arguments& a) { append_nms(e, nb::cast<nb::dict>(a[0])); }},
    {"set_metadata", 2, [](Editor& e, const Arguments& a) { e.set_metadata(text_of(a[0]), text_of(a[1])); }},
};

// [(what, arguments), ...], in order.
Model edit_model(const Model& from, nb::list steps) {
  Editor editor(from);
  for (nb::handle step : steps) {
    const std::string what = nb::cast<std::string>(step[0]);
    const auto arguments = nb::cast<nb::tuple>(step[1]);
    const auto* edit = std::find_if(std::begin(edits), std::end(edits), [&](const Edit& e) { return what == e.name; });
    if (edit == std::end(edits)) throw failure("use.edit", "unknown edit '" + what + "'");
    if (nb::len(arguments) != edit->arguments)
      throw failure("use.edit", "the edit '" + what + "' takes " + std::to_string(edit->arguments) +
                                    " arguments, not " + std::to_string(nb::len(arguments)));
    edit->apply(editor, arguments);
  }
  return editor.apply();
}

nb::list diff_models(const Model& a, const Model& b, size_t limit) {
  nb::list out;
  for (const Difference& d : released([&] { return diff(a, b, limit); }))
    out.append(nb::make_tuple(name_text(d.what), name_text(d.first), name_text(d.second)));
  return out;
}

// [(name, array), ...]
nb::list make_inputs(const Model& m, uint64_t seed, nb::handle sizes) {
  nb::list out;
  for (const auto& [name, value] : random_inputs(m, seed, sizes_of(sizes)))
    out.append(nb::make_tuple(name_text(name), to_python(value)));
  return out;
}

// (same, why, elements that differ, largest difference, that difference by the largest number)
nb::tuple compare_arrays(nb::handle got, nb::handle wanted, nb::dict given) {
  Options o(std::move(given));
  CompareSettings settings;
  settings.rtol = o.number("rtol");
  settings.atol = o.number("atol");
  settings.other_program = o.flag("other_program");
  o.finish();
  const RunValue a = to_value(got), b = to_value(wanted);
  const Compared c = released([&] { return compare_values(a, b, settings); });
  return nb::make_tuple(c.same, c.why, c.differing, c.worst, c.worst_of_largest);
}

// (agree, [(output, why, largest difference), ...], first inner difference)
nb::tuple verify_model(const Model& m, nb::object against, nb::dict given) {
  Options o(std::move(given));
  VerifySettings settings;
  settings.inputs = o.text("inputs");
  settings.kernels = kernels_of(o.object("kernels"));
  settings.random = static_cast<uint64_t>(o.integer("random", 0));
  settings.sizes = sizes_of(o.object("sizes"));
  settings.rtol = o.number("rtol");
  settings.atol = o.number("atol");
  settings.progress = progress_of(o.object("progress"));
  o.finish();
  const bool is_file = nb::isinstance<nb::str>(against);
  const std::string recorded = is_file ? nb::cast<std::string>(against) : "";
  const Model* reference = is_file ? nullptr : &nb::cast<const Model&>(against);
  const Verified v =
      released([&] { return reference ? verify(m, *reference, settings) : verify(m, recorded, settings); });
  nb::list outputs;
  for (const auto& out : v.outputs) outputs.append(nb::make_tuple(name_text(out.name), name_text(out.why), out.worst));
  return nb::make_tuple(v.agree, outputs, name_text(v.first_difference));
}

nb::list places(const std::vector<Explanation::Place>& all) {
  nb::list out;
  for (const auto& p : all) out.append(nb::make_tuple(p.rule, name_text(p.value), name_text(p.why)));
  return out;
}

nb::tuple explain_model(const Model& m, const std::string& rule, int opset) {
  const Explanation e = released([&] { return explain(m, rule, opset); });
  return nb::make_tuple(places(e.applied), places(e.refused), name_list(e.waiting));
}

// [(name, "lowered" | "staged" | "missing", ONNX operators, oldest opset or 0, why), ...]
nb::list operator_rows(bool missing) {
  static constexpr const char* words[] = {"lowered", "staged", "missing"};
  nb::list out;
  for (const TorchOperator& op : missing ? missing_operators() : operators())
    out.append(nb::make_tuple(op.name, words[static_cast<size_t>(op.support)], name_list(op.onnx), op.from_opset,
                              in_python(op.why)));
  return out;
}

}  // namespace

void bind_verbs(nb::module_& m) {
  m.def("infer",
        [](const Model& from, bool strict) { return released([&] { return infer(from, {.strict = strict}); }); });
  m.def("convert", &convert_model);
  m.def("half", &half_model);
  m.def("simplify", &simplify_model);
  m.def("extract", [](const Model& from, nb::handle inputs, nb::handle outputs) {
    return extract(from, text_list(inputs), text_list(outputs));
  });
  m.def("merge", &merge_models);
  m.def("edit", &edit_model);
  m.def("diff", &diff_models);
  m.def("random_inputs", &make_inputs);
  m.def("compare", &compare_arrays);
  m.def("verify", &verify_model);
  m.def("explain", &explain_model);
  m.def("operators", &operator_rows);
  m.def("rules", [] {
    nb::list out;
    for (const RuleInfo& r : rules()) out.append(nb::make_tuple(r.name, r.kind));
    return out;
  });
  m.def("rules_of_pass", [](const std::string& pass) { return name_list(rules_of_pass(pass)); });
}

}  // namespace cameo::python
