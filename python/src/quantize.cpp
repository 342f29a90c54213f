// cameo.quantize: samples from Python, and a metric.
#include "cameo/quantize.h"

#include <nanobind/stl/string.h>

#include "bindings.h"
#include "cameo/dynamic.h"
#include "cameo/model.h"
#include "cameo/weights.h"
#include "own_kernels.h"
#include "samples.h"

namespace cameo::python {

namespace {

QuantizeMetric metric_of(nb::object function) {
  if (function.is_none()) return {};
  return [owner = keep(std::move(function))](const Model& m) {
    const nb::gil_scoped_acquire gil;
    return nb::cast<double>(
        nb::float_(nb::handle(static_cast<PyObject*>(const_cast<void*>(owner.get())))(nb::cast(m))));
  };
}

QuantizeSettings settings_of(Options& o) {
  QuantizeSettings s;
  s.target = o.text("target", s.target.c_str());
  s.method = o.text("method", s.method.c_str());
  s.percentile = o.number("percentile").value_or(s.percentile);
  s.keep = o.texts("keep");
  s.simplify = o.flag("simplify", s.simplify);
  s.correct_bias = o.flag("correct_bias", s.correct_bias);
  s.equalize = o.flag("equalize", s.equalize);
  s.compensate = o.flag("compensate", s.compensate);
  s.min_db = o.number("min_db").value_or(s.min_db);
  s.max_float_macs = o.number("max_float_macs").value_or(s.max_float_macs);
  s.check_samples =
      static_cast<uint64_t>(std::max<int64_t>(1, o.integer("check_samples", static_cast<int64_t>(s.check_samples))));
  s.max_drop = o.number("max_drop").value_or(s.max_drop);
  s.form = o.text("form", s.form.c_str());
  s.threads = static_cast<int>(o.integer("threads", 0));
  s.opset = static_cast<int>(o.integer("opset", 0));
  s.kernels = kernels_of(o.object("kernels"));
  s.progress = progress_of(o.object("progress"));
  return s;
}

// (model, report as JSON, report as HTML, findings); samples: a file name, or an iterable of dicts.
nb::tuple quantize_model(const Model& m, nb::object samples, const std::string& image, nb::dict given) {
  Options options(std::move(given));
  const QuantizeSettings settings = settings_of(options);
  const QuantizeMetric metric = metric_of(options.object("metric"));
  options.finish();
  const SampleSource source = sample_source(m, std::move(samples), image);
  Quantized q = released([&] { return quantize(m, source, settings, metric); });
  return nb::make_tuple(std::move(q.model), to_json(q.report), to_html(q.report), diag_list(q.findings));
}

// (model, report as JSON, findings)
nb::tuple quantize_weights_of(const Model& m, nb::object samples, const std::string& image, nb::dict given) {
  Options o(std::move(given));
  WeightSettings s;
  s.bits = static_cast<int>(o.integer("bits", s.bits));
  s.block = o.integer("block", s.block);
  s.symmetric = o.flag("symmetric", s.symmetric);
  s.method = o.text("method", s.method.c_str());
  s.form = o.text("form", s.form.c_str());
  s.embeddings = o.flag("embeddings", s.embeddings);
  s.keep = o.texts("keep");
  s.opset = static_cast<int>(o.integer("opset", 0));
  s.threads = static_cast<int>(o.integer("threads", 0));
  s.kernels = kernels_of(o.object("kernels"));
  s.progress = progress_of(o.object("progress"));
  o.finish();
  const SampleSource source = sample_source(m, std::move(samples), image);
  WeightQuantized q = released([&] { return quantize_weights(m, s, source); });
  return nb::make_tuple(std::move(q.model), to_json(q.report), diag_list(q.findings));
}

// (model, report as JSON, findings)
nb::tuple convert_weights_of(const Model& m, const std::string& form) {
  WeightQuantized q = released([&] { return convert_weights(m, form); });
  return nb::make_tuple(std::move(q.model), to_json(q.report), diag_list(q.findings));
}

// (model, report as JSON)
nb::tuple quantize_dynamic_of(const Model& m, nb::dict given) {
  Options o(std::move(given));
  DynamicSettings s;
  s.target = o.text("target", s.target.c_str());
  s.per_channel = o.flag("per_channel", s.per_channel);
  s.keep = o.texts("keep");
  s.opset = static_cast<int>(o.integer("opset", 0));
  o.finish();
  DynamicQuantized q = released([&] { return quantize_dynamic(m, s); });
  return nb::make_tuple(std::move(q.model), to_json(q.report));
}

}  // namespace

void bind_quantize(nb::module_& m) {
  m.def("quantize", &quantize_model);
  m.def("quantize_weights", &quantize_weights_of, nb::arg(), nb::arg().none(), nb::arg(), nb::arg());
  m.def("convert_weights", &convert_weights_of);
  m.def("quantize_dynamic", &quantize_dynamic_of);
}

}  // namespace cameo::python
