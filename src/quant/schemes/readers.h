// What reads a value, directly or by way of others.
#pragma once

#include <algorithm>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace cameo::quant {

inline bool is_one_of(const Node& n, std::span<const std::string_view> ops) {
  return std::any_of(ops.begin(), ops.end(), [&](std::string_view op) { return n.is(op); });
}

// Whether a path over readers that `follows` allows leads to something that `found` says yes to.
template <typename Follows, typename Found>
bool leads_to(const Graph& g, ValueId v, const Follows& follows, const Found& found) {
  std::vector<ValueId> open{v};
  std::set<ValueId> seen{v};
  while (!open.empty()) {
    const ValueId next = open.back();
    open.pop_back();
    for (const Use& u : g[next].uses) {
      if (found(u)) return true;
      if (!u.node || !follows(g[u.node])) continue;
      for (const ValueId out : g[u.node].outputs)
        if (out && seen.insert(out).second) open.push_back(out);
    }
  }
  return false;
}

}  // namespace cameo::quant
