#include "backends/onnx/names.h"

#include "support/error.h"

namespace cameo::onnx {

Names::Names(const Graph& g) : g_(g) {
  for (uint32_t i = 0; i < g.value_capacity(); ++i) {
    const Value& v = g[ValueId(i)];
    if (v.kind == Value::Kind::dead || v.name.empty()) continue;
    taken_.insert(v.name);
    if (!defined_.emplace(Key{v.home, v.name}, ValueId(i)).second) changed_.insert(ValueId(i));
  }
  // A body may reuse an outer name as long as nothing in it means the outer value.
  for (uint32_t i = 0; i < g.value_capacity(); ++i) {
    const Value& v = g[ValueId(i)];
    if (v.kind == Value::Kind::dead || v.name.empty() || !g[v.home].parent) continue;
    for (RegionId r = g[v.home].parent; r; r = g[r].parent)
      if (const auto it = defined_.find({r, v.name}); it != defined_.end() && captured_over(it->second, v.home)) changed_.insert(ValueId(i));
  }
}

bool Names::captured_over(ValueId outer, RegionId inner) const {
  for (const Use& u : g_[outer].uses)
    if (g_.is_inside(u.node ? g_[u.node].home : u.region, inner)) return true;
  return false;
}

ValueId Names::visible(std::string_view name, RegionId region) const {
  for (; region; region = g_[region].parent)
    if (const auto it = defined_.find({region, name}); it != defined_.end()) return it->second;
  return {};
}

std::string Names::make(ValueId id) {
  const Value& v = g_[id];
  std::string stem = !v.name.empty() ? v.name : v.def ? std::string(g_[v.def].op->name) : v.kind == Value::Kind::initializer ? "constant" : "input";
  for (uint32_t& n = next_[stem];; ++n)
    if (std::string name = cat(stem, "_", n); taken_.insert(name).second) return name;
}

const std::string& Names::of(ValueId id) {
  if (!g_[id].name.empty() && !renamed(id)) return g_[id].name;
  const auto known = made_.find(id);
  return known != made_.end() ? known->second : made_.emplace(id, make(id)).first->second;
}

}  // namespace cameo::onnx
