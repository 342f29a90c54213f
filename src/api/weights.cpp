// include/cameo/weights.h.
#include <algorithm>

#include "quant/weights/convert_form.h"
#include "support/progress.h"

#include "api/kernels.h"
#include "api/samples.h"
#include "api/state.h"
#include "cameo/json.h"
#include "cameo/weights.h"

namespace cameo {

namespace {

template <size_t N>
size_t choice(const std::string_view (&names)[N], const std::string& given, const char* what) {
  const auto* const it = std::find(std::begin(names), std::end(names), given);
  if (it != std::end(names)) return static_cast<size_t>(it - std::begin(names));
  std::string all;
  for (const std::string_view name : names) all += cat(all.empty() ? "" : ", ", name);
  throw error("use.value", cat("there is no ", what, " '", given, "'")).help(all);
}

constexpr std::string_view forms[] = {"nbits", "qdq"};

WeightQuantized made_of(ModelState s, quant::WeightResult r, int64_t opset) {
  s.opset = std::max({r.opset, opset_of(s), opset});
  s.inferred.reset();
  WeightReport report;
  report.bytes_before = r.bytes_before, report.bytes_after = r.bytes_after;
  for (quant::WeightRow& w : r.weights)
    report.weights.push_back(
        {std::move(w.name), std::move(w.method), std::move(w.why), std::move(w.shape), w.quantized, w.db, w.rtn_db});
  return {ModelState::make(std::move(s)), std::move(report), {}};
}

quant::WeightOptions options_of(const WeightSettings& s) {
  quant::WeightOptions o;
  o.format = {s.bits, s.block, s.symmetric};
  o.method = static_cast<quant::WeightMethod>(choice(quant::weight_method_names, s.method, "method"));
  o.form = static_cast<quant::WeightForm>(choice(forms, s.form, "form"));
  o.embeddings = s.embeddings;
  o.keep = s.keep;
  o.run.threads = known_threads(s.threads);
  o.run.kernels = api::custom_ops(s.kernels);
  return o;
}

}  // namespace

WeightQuantized quantize_weights(Model model, const WeightSettings& settings, const SampleSource& samples) {
  const support::ProgressScope told(settings.progress);
  const quant::WeightOptions options = options_of(settings);
  const int64_t opset = settings.opset ? known_opset(settings.opset) : 0;
  ModelState s = ModelState::changed(std::move(model));
  const ir::Model before = samples ? s.model : ir::Model();
  quant::WeightResult r =
      quant::quantize_weights(s.model, samples ? positional(before.graph, samples) : quant::Samples(), options);
  return made_of(std::move(s), std::move(r), opset);
}

WeightQuantized convert_weights(Model model, const std::string& form) {
  const auto to = static_cast<quant::WeightForm>(choice(forms, form, "form"));
  ModelState s = ModelState::changed(std::move(model));
  quant::WeightResult r = quant::convert_form(s.model, to);
  return made_of(std::move(s), std::move(r), 0);
}

std::string to_json(const WeightReport& r) {
  json::Writer w;
  w.object().key("bytes_before").value(r.bytes_before).key("bytes_after").value(r.bytes_after).key("weights").array();
  for (const WeightReport::Weight& x : r.weights) {
    w.object().key("name").value(x.name).key("shape").array();
    for (const int64_t size : x.shape) w.value(size);
    w.end().key("quantized").value(x.quantized);
    if (!x.method.empty()) w.key("method").value(x.method);
    if (!x.why.empty()) w.key("why").value(x.why);
    if (x.db) w.key("db").value(*x.db);
    if (x.rtn_db) w.key("rtn_db").value(*x.rtn_db);
    w.end();
  }
  return w.end().end().text();
}

}  // namespace cameo
