// include/cameo/stats.h.
#include <algorithm>
#include <map>
#include <unordered_set>

#include "ops/infer.h"
#include "passes/statistics.h"

#include "api/state.h"
#include "cameo/stats.h"

namespace cameo {

Stats stats(const Model& model) {
  ir::Model m = ModelState::onnx(model);
  ops::infer(m.graph, m.functions);
  const passes::Statistics s = passes::statistics(m);
  Stats out;
  out.nodes = s.nodes;
  for (const auto& o : s.operators) out.operators.emplace_back(o.name, o.count);
  out.weights = s.weights;
  out.parameters = s.parameters;
  out.weight_bytes = s.weight_bytes;
  out.macs = s.macs.text();
  out.macs_unknown = s.macs_unknown;
  out.activation_bytes = s.peak_activation_bytes;
  out.dims = s.dims;
  std::map<std::string, uint64_t> bytes;
  std::unordered_set<const ir::Weight*> seen;  // shared ones once
  for (uint32_t i = 0; i < m.graph.value_capacity(); ++i)
    if (const ir::Value& v = m.graph[support::ValueId(i)];
        v.kind != ir::Value::Kind::dead && v.weight && !v.synthetic && seen.insert(v.weight.get()).second)
      bytes[std::string(ir::name(v.weight->dtype))] += v.weight->byte_size();
  out.bytes_by_dtype.assign(bytes.begin(), bytes.end());
  std::stable_sort(out.bytes_by_dtype.begin(), out.bytes_by_dtype.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return out;
}

}  // namespace cameo
