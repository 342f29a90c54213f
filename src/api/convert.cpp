// include/cameo/convert.h.
#include "backends/onnx/legalise.h"
#include "ops/inline.h"
#include "ops/soundness.h"
#include "passes/half.h"

#include "api/state.h"
#include "cameo/convert.h"

namespace cameo {

namespace {

passes::HalfResult to_half(const ConvertSettings& settings, ModelState& s) {
  passes::HalfOptions how;
  how.to = settings.float_type == FloatType::f16 ? ir::DType::f16 : ir::DType::bf16;
  how.keep_io = settings.keep_io;
  how.keep = settings.keep;
  auto made = passes::to_half(s.model, how);
  s.findings.insert(s.findings.end(), made.notes.begin(), made.notes.end());
  return made;
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

Converted convert(Model model, const ConvertSettings& settings) {
  if (settings.opset) known_opset(settings.opset);
  if (settings.float_type == FloatType::keep && (settings.keep_io || !settings.keep.empty()))
    throw error("use.settings", "keep_io and keep go with float_type");
  ModelState s = ModelState::changed(std::move(model));
  s.findings = ops::admit(s.model);  // expansions look at types and known contents
  s.inferred.reset();
  if (settings.inline_functions) ops::inline_functions(s.model);
  passes::HalfResult half;
  if (settings.float_type != FloatType::keep) half = to_half(settings, s);
  if (settings.opset) to_opset(settings, s);
  std::vector<Diag> findings = s.findings;
  return {ModelState::make(std::move(s)), half.values, half.weights, half.casts, std::move(findings)};
}

}  // namespace cameo
