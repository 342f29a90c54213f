// Slices that cut one tensor into consecutive parts are one Split.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "ops/on.h"
#include "passes/simplify.h"

namespace cameo::passes {

namespace {

struct Part {
  int64_t start = 0, end = 0;
  NodeId slice;
};

std::optional<std::vector<int64_t>> literal_ints(const Graph& g, ValueId v) {
  if (!v) return std::nullopt;
  const auto t = g.constant(v, 1 << 12);
  return t && is_int(t->dtype()) ? std::optional(t->to_ints()) : std::nullopt;
}

// A Slice along one axis of known size in steps of 1, counted from the front.
std::optional<std::pair<int64_t, Part>> part_of(const Graph& g, Rewriter& e, NodeId n) {
  if (!e.understood(n) || !g[n].is("Slice")) return std::nullopt;
  const ValueId x = g.input(n, 0);
  const auto starts = literal_ints(g, g.input(n, 1)), ends = literal_ints(g, g.input(n, 2)),
             axes = literal_ints(g, g.input(n, 3)), steps = literal_ints(g, g.input(n, 4));
  if (!starts || !ends || starts->size() != 1 || (g.input(n, 3) && !axes) ||
      (g.input(n, 4) && (!steps || (*steps)[0] != 1)))
    return std::nullopt;
  const int64_t rank = g[x].fact.rank(), given = axes ? (*axes)[0] : 0, axis = given < 0 ? given + rank : given;
  const auto size = g[x].fact.shape()[static_cast<size_t>(axis)].known();
  if (!size) return std::nullopt;
  const auto place = [&](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? std::max<int64_t>(at, -*size) + *size : at, 0, *size);
  };
  return std::pair(axis, Part{place((*starts)[0]), place((*ends)[0]), n});
}

bool covers(std::vector<Part>& parts, int64_t size) {
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.start < b.start; });
  int64_t at = 0;
  for (const Part& p : parts) {
    if (p.start != at || p.end <= p.start) return false;
    at = p.end;
  }
  return at == size && parts.size() > 1;
}

NodeId first_of(const Graph& g, const std::vector<Part>& parts) {
  for (const NodeId n : g.nodes(g[parts[0].slice].home))
    if (std::any_of(parts.begin(), parts.end(), [&](const Part& p) { return p.slice == n; })) return n;
  return {};
}

void split(Graph& g, Rewriter& e, ValueId x, int64_t axis, const std::vector<Part>& parts) {
  std::vector<int64_t> sizes;
  for (const Part& p : parts) sizes.push_back(p.end - p.start);
  const NodeId before = first_of(g, parts);
  RuleOn on(g, g[before].home, before);
  const auto made = on.Split(x, parts.size(), on.ints(sizes), op::Split{.axis = axis});
  const NodeId n = g[made[0]].def;
  g.set_notes(n, g[before].notes);
  g.set_name(n, g[before].name);
  e.record("slices-to-split", RuleClass::exact, value_label(g, g[parts[0].slice].outputs[0]), parts.size(), 1);
  for (size_t i = 0; i < parts.size(); ++i) {
    const ValueId old = g[parts[i].slice].outputs[0];
    const std::string name = g[old].name;
    g.fact(made[i]) = g[old].fact;
    g.replace_uses(old, made[i]);
    g.label(old).name.clear();
    g.rename(made[i], name);
    g.erase(parts[i].slice);
    for (const Use& u : g[made[i]].uses)
      if (u.node) e.push(u.node);
  }
  e.push(n);
}

}  // namespace

size_t split_slices(Graph& g, Rewriter& e) {
  size_t applied = 0;
  for (uint32_t i = 0, count = g.value_capacity(); i < count; ++i) {
    const ValueId x(i);
    if (g[x].kind == Value::Kind::dead || g[x].uses.size() < 2 || g[x].uses.size() > 256 || !g[x].fact.has_rank())
      continue;
    std::map<std::pair<RegionId, int64_t>, std::vector<Part>> by_axis;
    for (const Use& u : g[x].uses)
      if (u.node && u.index == 0)
        if (const auto p = part_of(g, e, u.node)) by_axis[{g[u.node].home, p->first}].push_back(p->second);
    for (auto& [where, parts] : by_axis) {
      if (!covers(parts, *g[x].fact.shape()[static_cast<size_t>(where.second)].known())) continue;
      if (!e.may_apply("slices-to-split", g[parts[0].slice].outputs[0])) continue;
      split(g, e, x, where.second, parts);
      ++applied;
      break;  // the uses that were walked have changed
    }
  }
  return applied;
}

}  // namespace cameo::passes
