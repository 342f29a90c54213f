// include/cameo/check.h.
#include "api/model_file.h"
#include "frontends/onnx/check.h"
#include "ops/infer.h"

#include "api/state.h"
#include "cameo/check.h"

namespace cameo {

std::vector<Diag> check(const std::string& path, const CheckSettings& settings) {
  return frontends::check_onnx(api::load_onnx_bytes(path), path, {.types = settings.types, .strict = settings.strict});
}
std::vector<Diag> check(const Buffer& bytes, const CheckSettings& settings) {
  return frontends::check_onnx(bytes_of(bytes), "", {.types = settings.types, .strict = settings.strict});
}
std::vector<Diag> check(const Model& model, const CheckSettings& settings) {
  return frontends::check_onnx(support::Bytes::own(model.bytes()), "",
                               {.types = settings.types, .strict = settings.strict});
}

void infer_types(ModelState& s) {
  if (s.inferred) return;
  auto result = ops::infer(s.model.graph, s.model.functions);
  for (Diag& d : result.findings)
    if (d.where.file.empty()) d.where.file = s.path;
  s.inferred = result.nodes;
  s.findings = std::move(result.findings);
}

Model infer(Model model, const InferSettings& settings) {
  ModelState s = ModelState::changed(std::move(model));
  s.inferred.reset();
  infer_types(s);
  if (settings.strict && !s.findings.empty()) throw Error(std::move(s.findings));
  for (Diag& d : s.findings) d.severity = Severity::warning;
  s.write.value_info = backends::WriteOptions::ValueInfo::all;
  return ModelState::make(std::move(s));
}

ShapeCoverage shape_coverage(const Model& model) {
  if (!ModelState::of(model).inferred) return shape_coverage(infer(model));
  const ir::Graph& g = ModelState::onnx(model).graph;
  ShapeCoverage out;
  out.nodes = *ModelState::of(model).inferred;
  for (uint32_t i = 0; i < g.value_capacity(); ++i) {
    const ir::Value& v = g[support::ValueId(i)];
    if (v.kind != ir::Value::Kind::node_output) continue;
    ++out.values;
    if (!v.fact.has_rank()) continue;
    ++out.values_with_shape;
    for (const ir::Dim d : v.fact.shape()) {
      ++out.dims;
      if (d.is_literal()) ++out.known_dims;
      else if (!ir::mentions_fresh(d)) ++out.symbolic_dims;
    }
  }
  return out;
}

}  // namespace cameo
