// include/cameo/stats.h.
#include <algorithm>
#include <map>
#include <unordered_set>

#include "passes/statistics.h"

#include "api/state.h"
#include "api/stats_of.h"
#include "cameo/json.h"

namespace cameo {

Stats stats_of(const ir::Model& m) {
  const passes::Statistics s = passes::statistics(m);
  Stats out;
  for (const auto& [domain, version] : m.opsets) out.opsets[domain] = static_cast<int>(version);
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

bool Stats::macs_are_known() const { return macs.find_first_not_of("0123456789") == macs.npos && !macs.empty(); }

Stats stats(Model model) {
  const auto opsets = model.opsets();
  if (!ModelState::of(model).inferred) {
    ModelState s = ModelState::changed(std::move(model));
    infer_types(s);
    model = ModelState::make(std::move(s));
  }
  Stats out = stats_of(ModelState::onnx(model));
  out.opsets = opsets;
  return out;
}

std::string to_json(const Stats& s) {
  json::Writer w;
  w.object().key("opsets").object();
  for (const auto& [domain, version] : s.opsets) w.key(domain.empty() ? "ai.onnx" : domain).value(version);
  w.end().key("nodes").value(uint64_t{s.nodes}).key("operators").object();
  for (const auto& [op, count] : s.operators) w.key(op).value(uint64_t{count});
  w.end().key("weights").value(uint64_t{s.weights}).key("parameters").value(s.parameters);
  w.key("weight_bytes").value(s.weight_bytes).key("bytes_by_dtype").object();
  for (const auto& [dtype, bytes] : s.bytes_by_dtype) w.key(dtype).value(bytes);
  w.end().key("macs").value(s.macs).key("macs_unknown").value(uint64_t{s.macs_unknown});
  if (s.activation_bytes) w.key("activation_bytes").value(*s.activation_bytes);
  w.key("dims").array();
  for (const std::string& d : s.dims) w.value(d);
  return w.end().end().text();
}

}  // namespace cameo
