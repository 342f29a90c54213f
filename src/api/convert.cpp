// include/cameo/convert.h.
#include "backends/onnx/legalise.h"
#include "ops/inline.h"
#include "ops/schema.h"
#include "ops/soundness.h"
#include "passes/linger/to_qdq.h"
#include "quant/forms.h"
#include "quant/half/half.h"
#include "support/progress.h"

#include "api/kernels.h"
#include "api/needed_opset.h"
#include "api/samples.h"
#include "api/state.h"
#include "cameo/convert.h"
#include "cameo/json.h"

namespace cameo {

namespace {

constexpr double f16_error = 1e-2, bf16_error = 5e-2;  // bf16 has three digits less in base 2

quant::HalfSettings half_settings(const ConvertSettings& from, const ModelState& s) {
  if (!from.target.empty() && from.target != "tensorrt")
    throw error("use.target", cat("half precision has no target '", from.target, "'")).help("tensorrt, or none");
  quant::HalfSettings out;
  const bool bf16 = from.float_type == FloatType::bf16;
  out.form.to = bf16 ? ir::DType::bf16 : ir::DType::f16;
  out.form.products_only = from.float_type == FloatType::mixed;
  out.form.keep_io = from.keep_io;
  out.form.opset = from.opset ? from.opset : opset_of(s);
  out.keep = from.keep;
  out.max_error = from.max_error.value_or(bf16 ? bf16_error : f16_error);
  if (!(out.max_error > 0)) throw error("use.value", cat("the largest error is ", out.max_error)).help("more than 0");
  out.check = from.check;
  out.f16_sums = from.target == "tensorrt";
  out.run.threads = known_threads(from.threads);
  out.run.kernels = api::custom_ops(from.kernels);
  return out;
}

Diag warning(std::string_view code, std::string what, std::string hint) {
  Diag d;
  d.severity = Severity::warning;
  d.code = code;
  d.what = std::move(what);
  d.hint = std::move(hint);
  return d;
}

void raise_opset(ModelState& s) {
  const int64_t own = opset_of(s), needed = needed_opset(s);
  if (needed == own) return;
  s.opset = needed;
  s.findings.push_back(
      warning("convert.opset", cat("the opset is ", needed, " now: opset ", own, " has no form of a node"), ""));
}

HalfReport to_half(const Model& model, const ConvertSettings& settings, ModelState& s) {
  const quant::HalfSettings how = half_settings(settings, s);
  SampleSource source = settings.samples;
  if (!source && !settings.calibrate.empty()) source = samples_from(model, settings.calibrate, settings.image);
  const ir::Model before = s.model;
  const quant::Samples samples = source ? positional(before.graph, source) : quant::Samples();
  quant::HalfReport r = quant::to_half(s.model, samples, how);
  s.findings.insert(s.findings.end(), r.findings.begin(), r.findings.end());
  HalfReport out{r.values, r.weights, r.casts, r.samples, r.made_up, r.tried, r.error, r.unchecked, {}};
  for (auto& k : r.kept) out.kept.push_back({std::move(k.name), std::move(k.op), std::move(k.why)});
  if (out.error && *out.error > how.max_error)
    s.findings.push_back(warning("convert.error",
                                 cat("the worst output is off by ", *out.error, " of its largest number"),
                                 "--keep NODE for what the report shows, or --float mixed"));
  if (!out.unchecked.empty() && how.check)
    s.findings.push_back(warning("convert.unchecked", cat("the result was not measured: ", out.unchecked),
                                 "--calibrate DATA gives inputs to run the model on"));
  return out;
}

uint64_t to_qdq(const ConvertSettings& settings, ModelState& s) {
  auto made = passes::linger_to_qdq(s.model, settings.exact_rounding, settings.opset ? settings.opset : opset_of(s));
  s.findings.insert(s.findings.end(), made.notes.begin(), made.notes.end());
  return made.nodes;
}

void to_opset(const ConvertSettings& settings, ModelState& s) {
  ir::Model trial = s.model;
  onnx::LegaliseOptions how;
  how.lossy = settings.lossy;
  auto result = onnx::legalise(trial, settings.opset, how);
  if (!result.refusals.empty()) throw Error(std::move(result.refusals));
  if (settings.lossy) s.model = std::move(trial);
  s.findings.insert(s.findings.end(), result.notes.begin(), result.notes.end());
  s.opset = settings.opset;
}

}  // namespace

// Files hold nodes that their own opset does not have, and are copied as they are; a node that was changed is not.
int64_t needed_opset(const ModelState& s) {
  const int64_t own = opset_of(s);
  for (int64_t opset = own; opset <= ops::newest_released_opset; ++opset) {
    ir::Model trial = s.model;
    if (onnx::legalise(trial, opset).refusals.empty()) return opset;
  }
  return own;
}

Converted convert(Model model, const ConvertSettings& settings) {
  const support::ProgressScope told(settings.progress);
  if (settings.opset) known_opset(settings.opset);
  if (settings.float_type == FloatType::keep && (settings.keep_io || !settings.keep.empty()))
    throw error("use.settings", "keep_io and keep go with float_type");
  if (settings.exact_rounding && !settings.to_qdq) throw error("use.settings", "exact_rounding goes with to_qdq");
  const bool to_float = settings.float_type != FloatType::keep;
  const std::optional<Model> given = to_float ? std::optional(model) : std::nullopt;
  ModelState s = ModelState::changed(std::move(model));
  s.findings = ops::admit(s.model);  // expansions look at types and known contents
  s.inferred.reset();
  if (settings.inline_functions) ops::inline_functions(s.model);
  const uint64_t replaced = settings.to_qdq ? to_qdq(settings, s) : 0;
  if (!settings.quantized.empty()) quant::to_form(s.model.graph, settings.quantized);
  HalfReport half;
  if (given) half = to_half(*given, settings, s);
  if (to_float && !settings.opset) raise_opset(s);
  if (settings.opset) to_opset(settings, s);
  std::vector<Diag> findings = s.findings;
  return {ModelState::make(std::move(s)), std::move(half), replaced, std::move(findings)};
}

std::string to_json(const HalfReport& r) {
  json::Writer w;
  w.object().key("values").value(r.values).key("weights").value(r.weights).key("casts").value(r.casts);
  w.key("samples").value(r.samples).key("made_up").value(r.made_up).key("tried").value(r.tried);
  if (r.error) w.key("error").value(*r.error);
  if (!r.unchecked.empty()) w.key("unchecked").value(r.unchecked);
  w.key("kept").array();
  for (const HalfReport::Kept& k : r.kept)
    w.object().key("name").value(k.name).key("op").value(k.op).key("why").value(k.why).end();
  return w.end().end().text();
}

}  // namespace cameo
