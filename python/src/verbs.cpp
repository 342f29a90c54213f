// What the command's verbs do to models: each function gives a new model.
#include "bindings.h"

#include <nanobind/stl/string.h>

#include "api/simplify_check.h"
#include "backends/onnx/lean.h"
#include "backends/onnx/legalise.h"
#include "ops/infer.h"
#include "ops/schema.h"
#include "ops/soundness.h"
#include "passes/dce.h"
#include "passes/diff.h"
#include "passes/edit.h"
#include "passes/extract.h"
#include "passes/merge.h"
#include "runtime/inputs.h"

namespace cameo::python {

namespace {

std::vector<std::pair<std::string, std::string>> text_pairs(nb::object o) {
  std::vector<std::pair<std::string, std::string>> out;
  if (o.is_none()) return out;
  for (auto [k, v] : nb::cast<nb::dict>(o))
    out.emplace_back(nb::cast<std::string>(k), nb::cast<std::string>(nb::str(v)));
  return out;
}

PyModel* infer_model(const PyModel& from) {
  const Released released;
  auto out = std::make_unique<PyModel>(from);
  auto result = infer(out->model.graph, out->model.functions);
  for (Diag& d : result.findings) d.severity = Severity::warning;
  out->findings = std::move(result.findings);
  out->write.value_info = WriteOptions::ValueInfo::all;
  return out.release();
}

PyModel* convert_model(const PyModel& from, int64_t opset, bool lossy) {
  const Released released;
  if (opset < 1 || opset > newest_opset)
    throw error("use.value", cat("there is no opset ", opset))
        .help(cat("the newest released is ", newest_released_opset));
  auto out = std::make_unique<PyModel>(from);
  admit(out->model);
  Model trial = out->model;
  onnx::LegaliseOptions how;
  how.lossy = lossy;
  auto result = onnx::legalise(trial, opset, how);
  if (!result.refusals.empty()) throw Error(std::move(result.refusals));
  if (lossy) out->model = std::move(trial);
  out->findings = std::move(result.notes);
  out->write.opset = opset;
  return out.release();
}

nb::tuple simplify_model(const PyModel& from, nb::dict given) {
  Options o(std::move(given));
  SimplifyOptions how;
  how.skip = o.texts("skip");
  how.only = o.texts("only");
  how.exact = o.flag("exact");
  how.freeze_initializers = o.flag("freeze_initializers");
  how.fuse = o.flag("fuse", true);
  how.fold = o.flag("fold", true);
  how.sizes_may_be_zero = o.flag("sizes_may_be_zero");
  how.unroll = o.integer("unroll", 0);
  CheckOptions check;
  check.inputs = o.integer("check", 0);
  if (nb::object v = o.object("rtol"); !v.is_none()) check.tolerance.rtol = nb::cast<double>(v);
  if (nb::object v = o.object("atol"); !v.is_none()) check.tolerance.atol = nb::cast<double>(v);
  for (const auto& [dim, size] : text_pairs(o.object("sizes"))) check.sizes[dim] = std::stoll(size);
  const auto shapes = text_pairs(o.object("input_shapes"));  // name -> "1,3,224,224"
  const bool value_info = o.flag("shapes", true);
  o.finish();
  std::vector<Application> ledger, undone;
  size_t compared = 0;
  double worst = 0;
  auto out = std::make_unique<PyModel>(from);
  {
    const Released released;
    Model& m = out->model;
    DiagSink diags;
    for (const auto& [name, sizes] : shapes) {
      std::vector<std::string> parts;
      for (size_t at = 0; at <= sizes.size() && !sizes.empty();) {
        const size_t comma = std::min(sizes.find(',', at), sizes.size());
        parts.push_back(sizes.substr(at, comma - at));
        at = comma + 1;
      }
      fix_shape(m, name, parts);
    }
    infer(m.graph, m.functions);
    const auto own = m.opsets.find("");
    const int64_t opset = out->write.opset.value_or(own == m.opsets.end() ? newest_released_opset : own->second);
    if (check.inputs == 0) ledger = simplify_for_opset(m, opset, how, false, &diags).ledger;
    else {
      CheckedResult checked = simplify_checked(m, opset, how, check, &diags);
      for (const Application& a : checked.undone)
        diags.warn("simplify.undone",
                   cat("the rewrite ", a.rule, " at '", a.value, "' changed an output and was undone"));
      for (const std::string& why : checked.skipped)
        diags.warn("simplify.not-checked", cat("one set of inputs could not be run: ", why));
      ledger = std::move(checked.result.ledger);
      compared = checked.compared;
      worst = checked.worst;
    }
    if (value_info) out->write.value_info = WriteOptions::ValueInfo::all;
    out->findings = std::move(diags.all());
  }
  nb::list rewrites;
  for (const Application& a : ledger) rewrites.append(nb::make_tuple(std::string(a.rule), name_text(a.value)));
  return nb::make_tuple(nb::cast(out.release(), nb::rv_policy::take_ownership), rewrites, compared, worst);
}

PyModel* extract_model(const PyModel& from, nb::object inputs, nb::object outputs) {
  std::vector<std::string> a, b;
  for (nb::handle h : inputs) a.push_back(nb::cast<std::string>(h));
  for (nb::handle h : outputs) b.push_back(nb::cast<std::string>(h));
  auto out = std::make_unique<PyModel>(from);
  extract(out->model, a, b);
  return out.release();
}

PyModel* merge_models(const PyModel& a, const PyModel& b, nb::object connect, bool keep_connected) {
  auto out = std::make_unique<PyModel>(a);
  MergeOptions how;
  how.connect = text_pairs(std::move(connect));
  how.keep_connected = keep_connected;
  if (a.write.opset && b.write.opset) out->write.opset = std::max(*a.write.opset, *b.write.opset);
  merge(out->model, b.model, how);
  if (out->write.opset) {
    const auto opset = out->model.opsets.find("");
    if (!b.write.opset && opset != out->model.opsets.end() && a.model.opsets != b.model.opsets)
      out->write.opset.reset();
  }
  return out.release();
}

std::string text_of(nb::handle h) { return nb::cast<std::string>(nb::str(h)); }

// One edit: (what, arguments).
void edit_one(Model& m, const std::string& what, nb::tuple args, bool& dead_code) {
  const auto text = [&](size_t i) { return text_of(args[i]); };
  if (what == "add_output") add_output(m, text(0));
  else if (what == "remove_output") remove_output(m, text(0)), dead_code = true;
  else if (what == "remove_input") remove_input(m, text(0));
  else if (what == "insert") insert_node(m, text(0));
  else if (what == "remove_node") remove_node(m, text(0)), dead_code = true;
  else if (what == "strip") strip(m);
  else if (what == "fix_shape") {
    std::vector<std::string> sizes;
    for (nb::handle h : args[1]) sizes.push_back(text_of(h));
    fix_shape(m, text(0), sizes);
  } else if (what == "set_dim") set_dim(m, text(0), nb::cast<int64_t>(args[1]), text(2));
  else if (what == "set_attribute") set_attribute(m, text(0), text(1), text(2));
  else if (what == "rename") rename(m, text(0), text(1));
  else if (what == "set_operator") set_operator(m, text(0), text(1));
  else if (what == "rewire") rewire(m, text(0), text(1));
  else if (what == "set_initializer")
    set_initializer(m, text(0), to_tensor(args[1], m.graph[find_value(m.graph, text(0))].fact.type.elem));
  else if (what == "set_metadata") set_metadata(m, text(0), text(1));
  else throw error("use.edit", cat("there is no edit '", what, "'"));
}

PyModel* edit_model(const PyModel& from, nb::list edits) {
  auto out = std::make_unique<PyModel>(from);
  bool dead_code = false;
  for (nb::handle e : edits) edit_one(out->model, nb::cast<std::string>(e[0]), nb::cast<nb::tuple>(e[1]), dead_code);
  if (dead_code) remove_dead_code(out->model.graph);
  return out.release();
}

nb::list diff_models(const PyModel& a, const PyModel& b, size_t limit) {
  std::vector<Difference> found;
  {
    const Released released;
    found = diff(a.model, b.model, {limit});
  }
  nb::list out;
  for (const Difference& d : found) out.append(nb::make_tuple(d.what, d.first, d.second));
  return out;
}

nb::list make_inputs(const PyModel& m, uint64_t seed, nb::object sizes) {
  std::map<std::string, int64_t> given;
  for (const auto& [dim, size] : text_pairs(std::move(sizes))) given[dim] = std::stoll(size);
  const auto params = run_inputs(m.model.graph, false);
  nb::list out;
  size_t i = 0;
  for (const Datum& d : random_inputs(m.model.graph, params, seed, given))
    out.append(nb::make_tuple(name_text(m.model.graph[params[i++]].name), to_python(d)));
  return out;
}

}  // namespace

void bind_verbs(nb::module_& m) {
  m.def("infer", &infer_model);
  m.def("convert", &convert_model);
  m.def("simplify", &simplify_model);
  m.def("extract", &extract_model);
  m.def("merge", &merge_models);
  m.def("edit", &edit_model);
  m.def("diff", &diff_models);
  m.def("random_inputs", &make_inputs);
  m.def("rules", [] {
    nb::list out;
    for (const RuleInfo& r : rule_list())
      out.append(nb::make_tuple(std::string(r.name), std::string(name(r.exactness))));
    return out;
  });
}

}  // namespace cameo::python
