// include/cameo/check.h and convert.h.
#include "api/model_file.h"
#include "backends/onnx/legalise.h"
#include "frontends/onnx/check.h"
#include "ops/infer.h"
#include "ops/soundness.h"

#include "api/state.h"
#include "cameo/check.h"
#include "cameo/convert.h"

namespace cameo {

std::vector<Diag> check(const std::string& path) { return frontends::check_onnx(api::load_onnx_bytes(path), path); }
std::vector<Diag> check(const Buffer& bytes) { return frontends::check_onnx(bytes_of(bytes), ""); }
std::vector<Diag> check(const Model& model) { return frontends::check_onnx(support::Bytes::own(model.bytes()), ""); }

Model infer(const Model& model) {
  ModelState s = ModelState::changed(model);
  auto result = ops::infer(s.model.graph, s.model.functions);
  for (Diag& d : result.findings) d.severity = Severity::warning;
  s.findings = std::move(result.findings);
  s.write.value_info = backends::WriteOptions::ValueInfo::all;
  return ModelState::make(std::move(s));
}

Model convert(const Model& model, int opset, const ConvertSettings& settings) {
  ModelState s = ModelState::changed(model);
  known_opset(opset);
  s.findings = ops::admit(s.model);
  ir::Model trial = s.model;
  onnx::LegaliseOptions how;
  how.lossy = settings.lossy;
  auto result = onnx::legalise(trial, opset, how);
  if (!result.refusals.empty()) throw Error(std::move(result.refusals));
  if (settings.lossy) s.model = std::move(trial);
  s.findings.insert(s.findings.end(), result.notes.begin(), result.notes.end());
  s.opset = opset;
  return ModelState::make(std::move(s));
}

}  // namespace cameo
