#include "backends/onnx/names.h"

#include "support/error.h"

namespace cameo::onnx {

Names::Names(const Graph& g) : g_(g), defined_(g.region_capacity()) {
  defined_[g.main().index].reserve(g.value_capacity());
  for (uint32_t i = 0; i < g.value_capacity(); ++i) {
    const Value& v = g[ValueId(i)];
    if (v.kind == Value::Kind::dead || v.name.empty()) continue;
    if (!defined_[v.home.index].emplace(v.name, ValueId(i)).second) changed_.insert(ValueId(i));
  }
  if (g.region_capacity() == 1) return;
  // A body may reuse an outer name as long as nothing in it means the outer value.
  for (uint32_t i = 0; i < g.value_capacity(); ++i) {
    const Value& v = g[ValueId(i)];
    if (v.kind == Value::Kind::dead || v.name.empty() || !g[v.home].parent) continue;
    for (RegionId r = g[v.home].parent; r; r = g[r].parent)
      if (const ValueId* outer = defined_[r.index].find(v.name); outer && captured_over(*outer, v.home))
        changed_.insert(ValueId(i));
  }
}

bool Names::captured_over(ValueId outer, RegionId inner) const {
  for (const Use& u : g_[outer].uses)
    if (g_.is_inside(u.node ? g_[u.node].home : u.region, inner)) return true;
  return false;
}

ValueId Names::visible(std::string_view name, RegionId region) const {
  for (; region; region = g_[region].parent)
    if (const ValueId* v = defined_[region.index].find(name)) return *v;
  return {};
}

std::string Names::make(ValueId id) {
  if (taken_.empty())
    for (uint32_t i = 0; i < g_.value_capacity(); ++i)
      if (g_[ValueId(i)].kind != Value::Kind::dead && !g_[ValueId(i)].name.empty()) taken_.insert(g_[ValueId(i)].name);
  const Value& v = g_[id];
  std::string stem = !v.name.empty()                      ? v.name
                     : v.def                              ? std::string(g_[v.def].op->name)
                     : v.kind == Value::Kind::initializer ? "constant"
                                                          : "input";
  for (uint32_t& n = next_[stem];; ++n)
    if (std::string name = cat(stem, "_", n); taken_.insert(name).second) return name;
}

const std::string& Names::of(ValueId id) {
  if (!g_[id].name.empty() && !renamed(id)) return g_[id].name;
  const auto known = made_.find(id);
  return known != made_.end() ? known->second : made_.emplace(id, make(id)).first->second;
}

}  // namespace cameo::onnx
