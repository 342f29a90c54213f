// include/cameo/dynamic.h.
#include "quant/dynamic/dynamic.h"

#include <algorithm>

#include "api/state.h"
#include "cameo/dynamic.h"
#include "cameo/json.h"

namespace cameo {

DynamicQuantized quantize_dynamic(Model model, const DynamicSettings& settings) {
  if (settings.target != "onnxruntime" && settings.target != "generic")
    throw error("use.target", cat("dynamic quantization has no target '", settings.target, "'"))
        .help("onnxruntime, generic");
  const int64_t opset = settings.opset ? known_opset(settings.opset) : 0;
  ModelState s = ModelState::changed(std::move(model));
  DynamicReport report;
  for (auto& row :
       quant::quantize_dynamic(s.model, {settings.target == "onnxruntime", settings.per_channel, settings.keep}))
    report.nodes.push_back({std::move(row.name), std::move(row.op), std::move(row.why), row.quantized});
  if (std::none_of(report.nodes.begin(), report.nodes.end(), [](const auto& n) { return n.quantized; })) {
    Diag d;
    d.severity = Severity::warning;
    d.code = "quantize.nothing";
    d.what = "no node of the model can be quantized: it stays as it is";
    d.hint = "only products with constant f32 weights are quantized: Conv, Gemm, MatMul, LSTM";
    s.findings.push_back(std::move(d));
    return {ModelState::make(std::move(s)), std::move(report)};
  }
  s.opset = std::max({quant::dynamic_opset, opset_of(s), opset});
  s.inferred.reset();
  return {ModelState::make(std::move(s)), std::move(report)};
}

std::string to_json(const DynamicReport& r) {
  json::Writer w;
  w.object().key("nodes").array();
  for (const DynamicReport::Node& n : r.nodes) {
    w.object().key("name").value(n.name).key("op").value(n.op).key("quantized").value(n.quantized);
    if (!n.why.empty()) w.key("why").value(n.why);
    w.end();
  }
  return w.end().end().text();
}

}  // namespace cameo
