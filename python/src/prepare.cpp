// cameo.prepare: a model as a deployment target wants it.
#include "cameo/prepare.h"

#include <nanobind/stl/string.h>

#include "bindings.h"
#include "reports.h"
#include "samples.h"

namespace cameo::python {

namespace {

FloatType float_type_of(const std::string& name) {
  return name == "f16"     ? FloatType::f16
         : name == "bf16"  ? FloatType::bf16
         : name == "mixed" ? FloatType::mixed
                           : FloatType::keep;
}
Normalise normalise_of(const std::string& name) {
  return name == "fold"   ? Normalise::fold
         : name == "keep" ? Normalise::keep
         : name == "out"  ? Normalise::out
                          : Normalise::automatic;
}

// (model, [(step, what, checked, why not), ...], report of lint, report as JSON, findings)
nb::tuple prepare_model(const Model& m, nb::object samples, nb::dict given) {
  Options o(std::move(given));
  PrepareSettings s;
  s.target = o.text("target", s.target.c_str());
  s.ignore = o.texts("ignore");
  s.inputs = o.texts("inputs");
  s.sizes = sizes_of(o.object("sizes"));
  s.opset = static_cast<int>(o.integer("opset", 0));
  s.float_type = float_type_of(o.text("float_type", ""));
  s.image = o.text("image", "");
  s.normalise = normalise_of(o.text("normalise", ""));
  if (nb::object words = o.object("append_nms"); !words.is_none())
    s.detections = detections_of(nb::cast<std::string>(words));
  s.quantize.min_db = o.number("min_db").value_or(s.quantize.min_db);
  s.simplify = o.flag("simplify", true);
  s.fix = o.flag("fix", true);
  s.verify = o.flag("verify", true);
  s.progress = progress_of(o.object("progress"));
  o.finish();
  if (nb::isinstance<nb::str>(samples)) s.calibrate = nb::cast<std::string>(samples);
  else if (!samples.is_none()) s.samples = sample_source(m, std::move(samples), "");
  Prepared p = released([&] { return prepare(m, s); });
  nb::list steps;
  for (const PrepareStep& step : p.ledger)
    steps.append(nb::make_tuple(step.step, name_text(step.what), name_text(step.checked), name_text(step.why_not)));
  const std::string report = to_json(p);
  return nb::make_tuple(std::move(p.model), steps, report_tuple(p.lint), report, diag_list(p.findings));
}

}  // namespace

void bind_prepare(nb::module_& m) { m.def("prepare", &prepare_model, nb::arg(), nb::arg().none(), nb::arg()); }

}  // namespace cameo::python
