#include "ops/ml/forest.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace cameo::ops {

namespace {

bool holds(const Forest::Branch& b, double x) {
  if (std::isnan(x) && b.missing_is_true) return true;
  switch (b.mode) {
    case Forest::leq: return x <= b.value;
    case Forest::lt: return x < b.value;
    case Forest::gte: return x >= b.value;
    case Forest::gt: return x > b.value;
    case Forest::eq: return x == b.value;
    case Forest::neq: return x != b.value;
    default: return std::find(b.members.begin(), b.members.end(), x) != b.members.end();
  }
}

Forest::Mode mode_of(std::string_view name) {
  constexpr std::string_view names[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                        "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
  if (name == "LEAF") return Forest::leaf;
  for (size_t i = 0; i < std::size(names); ++i)
    if (names[i] == name) return static_cast<Forest::Mode>(i);
  throw error("model.attribute", cat("there is no node mode '", name, "'"));
}

}  // namespace

void Forest::check(int64_t features) const {
  for (const Branch& b : branches) {
    if (b.mode == leaf) continue;
    if (b.on_true >= branches.size() || b.on_false >= branches.size())
      throw error("model.attribute", "a tree's branch leads nowhere");
    if (b.feature < 0 || b.feature >= features)
      throw error("model.attribute", cat("a tree asks for feature ", b.feature, " of ", features));
  }
}

const Forest::Branch& Forest::walk(uint32_t at, std::span<const double> sample) const {
  for (size_t steps = 0; steps <= branches.size(); ++steps) {
    const Branch& b = branches[at];
    if (b.mode == leaf) return b;
    at = holds(b, sample[static_cast<size_t>(b.feature)]) ? b.on_true : b.on_false;
  }
  throw error("model.attribute", "a tree's branches lead in a circle");
}

std::vector<double> aggregated(const Forest& forest, const Samples& x, size_t targets, Aggregate how) {
  forest.check(x.features);
  const double start = how == Aggregate::min   ? static_cast<double>(std::numeric_limits<float>::max())
                       : how == Aggregate::max ? static_cast<double>(std::numeric_limits<float>::lowest())
                                               : 0;
  std::vector<double> out(static_cast<size_t>(x.rows) * targets, start);
  std::vector<bool> voted(out.size(), false);
  for (int64_t r = 0; r < x.rows; ++r)
    forest.reach(x.row(r), [&](const Leaf& l) {
      if (l.target < 0 || static_cast<size_t>(l.target) >= targets)
        throw error("model.attribute", cat("a leaf for target ", l.target, " of ", targets));
      const size_t at = static_cast<size_t>(r) * targets + static_cast<size_t>(l.target);
      double& v = out[at];
      voted[at] = true;
      if (how == Aggregate::min) v = std::min(v, l.weight);
      else if (how == Aggregate::max) v = std::max(v, l.weight);
      else v += l.weight;
    });
  for (size_t i = 0; i < out.size(); ++i)
    if (!voted[i]) out[i] = 0;  // the least and the most of nothing
  if (how == Aggregate::average && !forest.roots.empty())
    for (double& v : out) v /= static_cast<double>(forest.roots.size());
  return out;
}

Forest read_forest(const TreeLists& t) {
  const size_t n = t.node_ids.size();
  const auto fits = [n](size_t size) { return size == n; };
  if (!fits(t.tree_ids.size()) || !fits(t.features.size()) || !fits(t.on_true.size()) || !fits(t.on_false.size()) ||
      !fits(t.modes.size()) || !fits(t.values.size()) ||
      (!t.missing_is_true.empty() && !fits(t.missing_is_true.size())))
    throw error("model.attribute", "the lists that describe the trees' nodes differ in length");
  if (t.leaf_nodes.size() != t.leaf_trees.size() || t.leaf_targets.size() != t.leaf_trees.size() ||
      t.leaf_weights.size() != t.leaf_trees.size())
    throw error("model.attribute", "the lists that describe the trees' leaves differ in length");
  std::map<std::pair<int64_t, int64_t>, uint32_t> places;
  for (size_t i = 0; i < n; ++i) places.emplace(std::pair(t.tree_ids[i], t.node_ids[i]), static_cast<uint32_t>(i));
  const auto place = [&](int64_t tree, int64_t node) {
    const auto it = places.find({tree, node});
    if (it == places.end()) throw error("model.attribute", cat("tree ", tree, " has no node ", node));
    return it->second;
  };
  Forest f;
  f.branches.resize(n);
  std::map<int64_t, bool> seen;
  for (size_t i = 0; i < n; ++i) {
    Forest::Branch& b = f.branches[i];
    b.mode = mode_of(t.modes[i]);
    b.feature = t.features[i];
    b.value = t.values[i];
    b.missing_is_true = !t.missing_is_true.empty() && t.missing_is_true[i] != 0;
    if (b.mode != Forest::leaf)
      b.on_true = place(t.tree_ids[i], t.on_true[i]), b.on_false = place(t.tree_ids[i], t.on_false[i]);
    if (seen.emplace(t.tree_ids[i], true).second)
      f.roots.push_back(static_cast<uint32_t>(i));  // a tree's first node is its root
  }
  for (size_t i = 0; i < t.leaf_trees.size(); ++i)
    f.branches[place(t.leaf_trees[i], t.leaf_nodes[i])].leaves.push_back({t.leaf_targets[i], t.leaf_weights[i]});
  return f;
}

}  // namespace cameo::ops
