// include/cameo/quantize.h.
#include "quant/quantize.h"

#include <algorithm>

#include "quant/forms.h"
#include "quant/samples/samples.h"
#include "runtime/inputs.h"
#include "support/near_name.h"
#include "support/progress.h"

#include "api/kernels.h"
#include "api/samples.h"
#include "api/state.h"
#include "cameo/quantize.h"

namespace cameo {

namespace {

quant::Method method_of(const std::string& name) {
  const auto* const it = std::find(std::begin(quant::method_names), std::end(quant::method_names), name);
  if (it == std::end(quant::method_names))
    throw error("use.value", cat("there is no method '", name, "'"))
        .help("auto, minmax, percentile, entropy, mse, margin");
  return static_cast<quant::Method>(it - std::begin(quant::method_names));
}

quant::Options options_of(const QuantizeSettings& s) {
  if (!(s.percentile > 50 && s.percentile <= 100))
    throw error("use.value", cat("the percentile is ", s.percentile)).help("more than 50, at most 100");
  quant::check_form(s.form);
  quant::Options o;
  o.asked = s;
  o.run.threads = known_threads(s.threads);
  o.run.kernels = api::custom_ops(s.kernels);
  o.method = method_of(s.method);
  o.opset = s.opset ? known_opset(s.opset) : 0;
  return o;
}

Diag below(const QuantizeReport& r, const QuantizeSettings& s) {
  Diag d;
  d.severity = Severity::warning;
  d.code = "quantize.below";
  d.what = r.metric ? cat("the metric is ", *r.metric, ", of the float model ", *r.float_metric)
                    : cat("the worst output has ", r.db, " dB, and ", s.min_db, " were asked for");
  d.hint = "more samples, --keep NODE for the nodes that the report shows as noisy, or a larger --max-float-macs";
  return d;
}

}  // namespace

quant::Samples positional(const ir::Graph& g, const SampleSource& source) {
  return [&g, &source, ended = false](std::vector<kernels::Datum>& inputs) mutable {
    std::vector<NamedValue> named;
    ended = ended || !source(named);  // it is not asked again
    if (ended) return false;
    const auto params = runtime::run_inputs(g);
    inputs.assign(params.size(), {});
    for (const auto& [name, value] : named) {
      size_t at = 0;
      while (at < params.size() && g[params[at]].name != name) ++at;
      if (at == params.size()) throw error("use.input-name", cat("the model has no input '", name, "'"));
      inputs[at] = datum_of(value, name);
    }
    return true;
  };
}

SampleSource samples_from(const Model& model, const std::string& path, const std::string& image) {
  std::optional<quant::PictureOptions> pictures;
  if (!image.empty()) pictures = quant::picture_options(image);
  // The model is kept alive with its graph.
  const Model owner = model;
  const ir::Graph& g = ModelState::onnx(owner).graph;
  return [owner, &g, next = quant::samples_from(g, path, pictures)](std::vector<NamedValue>& inputs) {
    std::vector<kernels::Datum> sample;
    if (!next(sample)) return false;
    const auto params = runtime::run_inputs(g);
    for (size_t i = 0; i < sample.size() && i < params.size(); ++i)
      if (sample[i].kind != kernels::Datum::Kind::none) inputs.emplace_back(g[params[i]].name, run_value_of(sample[i]));
    return true;
  };
}

Quantized quantize(const Model& model, const SampleSource& samples, const QuantizeSettings& settings,
                   const QuantizeMetric& metric) {
  const support::ProgressScope told(settings.progress);
  quant::Options options = options_of(settings);
  if (!samples)
    throw error("quantize.samples", "there are no samples to calibrate with")
        .help("samples_from, or a function of your own");
  ModelState s = ModelState::changed(model);
  const auto as_model = [&](const ir::Model& m, int64_t opset) {
    ModelState made = s;
    made.model = m;
    made.opset = opset;
    made.inferred.reset();
    return ModelState::make(std::move(made));
  };
  if (!options.opset) options.opset = opset_of(s);
  const int64_t opset = std::max(options.opset, quant::lowest_opset(settings.target));
  if (metric) options.metric = [&](const ir::Model& m) { return metric(as_model(m, opset)); };
  const ir::Model before = s.model;
  quant::Result result = quant::quantize(s.model, positional(before.graph, samples), options);
  s.opset = result.opset;
  s.inferred.reset();
  Quantized out{ModelState::make(std::move(s)), std::move(result.report), std::move(result.findings)};
  if (!out.report.reached) out.findings.push_back(below(out.report, settings));
  return out;
}

}  // namespace cameo
