#include <algorithm>
#include <numeric>

#include "layout/rows.h"

namespace cameo::layout {

namespace {

// Follows the wires from the boxes above, so that what belongs together starts together.
void first_order(Rows& r) {
  const uint32_t rows = r.row.empty() ? 0 : *std::max_element(r.row.begin(), r.row.end()) + 1;
  r.order.assign(rows, {});
  r.position.assign(r.row.size(), 0);
  std::vector<bool> seen(r.row.size(), false);
  std::vector<uint32_t> stack;
  for (uint32_t root = 0; root < r.row.size(); ++root) {
    if (seen[root] || !r.above[root].empty()) continue;
    stack.push_back(root);
    while (!stack.empty()) {
      const uint32_t v = stack.back();
      stack.pop_back();
      if (seen[v]) continue;
      seen[v] = true;
      r.position[v] = static_cast<uint32_t>(r.order[r.row[v]].size());
      r.order[r.row[v]].push_back(v);
      for (auto it = r.below[v].rbegin(); it != r.below[v].rend(); ++it) stack.push_back(r.segments[*it].lower);
    }
  }
}

// Twice the median of the neighbours' places, between the two middle ones by how dense their sides are; -1: none.
double median(std::vector<uint32_t>& places) {
  if (places.empty()) return -1;
  std::sort(places.begin(), places.end());
  const size_t m = places.size() / 2;
  if (places.size() % 2) return places[m];
  if (places.size() == 2) return (places[0] + places[1]) / 2.0;
  const double left = places[m - 1] - places[0], right = places.back() - places[m];
  if (left + right == 0) return places[m];
  return (places[m - 1] * right + places[m] * left) / (left + right);
}

void place_row(Rows& r, std::vector<uint32_t>& row, std::vector<uint32_t> sorted) {
  row = std::move(sorted);
  for (uint32_t i = 0; i < row.size(); ++i) r.position[row[i]] = i;
}

// Vertices without neighbours on that side keep their place; the others are sorted into the rest.
void sort_row(Rows& r, std::vector<uint32_t>& row, bool by_above) {
  std::vector<std::pair<double, uint32_t>> keyed;
  std::vector<uint32_t> places, out(row.size(), UINT32_MAX);
  for (uint32_t i = 0; i < row.size(); ++i) {
    places.clear();
    for (const uint32_t s : by_above ? r.above[row[i]] : r.below[row[i]])
      places.push_back(r.position[by_above ? r.segments[s].upper : r.segments[s].lower]);
    const double m = median(places);
    if (m < 0) out[i] = row[i];
    else keyed.emplace_back(m, row[i]);
  }
  std::stable_sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  size_t next = 0;
  for (uint32_t& v : out)
    if (v == UINT32_MAX) v = keyed[next++].second;
  place_row(r, row, std::move(out));
}

// Inversions of the lower ends of segments sorted by their upper ends, with a Fenwick tree.
uint64_t crossings_below(const Rows& r, const std::vector<uint32_t>& row, std::vector<uint32_t>& tree) {
  uint64_t out = 0;
  uint32_t seen = 0;
  std::vector<uint32_t> lower;
  std::fill(tree.begin(), tree.end(), 0);
  for (const uint32_t v : row) {
    lower.clear();
    for (const uint32_t s : r.below[v]) lower.push_back(r.position[r.segments[s].lower]);
    std::sort(lower.begin(), lower.end());
    for (const uint32_t place : lower) {
      uint32_t not_right = 0;
      for (uint32_t i = place + 1; i; i &= i - 1) not_right += tree[i];
      out += seen - not_right;
    }
    for (const uint32_t place : lower)
      for (uint32_t i = place + 1; i < tree.size(); i += i & (~i + 1)) ++tree[i];
    seen += static_cast<uint32_t>(lower.size());
  }
  return out;
}

}  // namespace

uint64_t crossings(const Rows& r) {
  uint64_t out = 0;
  std::vector<uint32_t> tree;
  for (size_t i = 0; i + 1 < r.order.size(); ++i) {
    tree.assign(r.order[i + 1].size() + 1, 0);
    out += crossings_below(r, r.order[i], tree);
  }
  return out;
}

uint64_t order_rows(Rows& r) {
  first_order(r);
  uint64_t best = crossings(r);
  auto kept = r.order;
  constexpr int most_sweeps = 24, patience = 4;
  for (int sweep = 0, worse = 0; sweep < most_sweeps && worse < patience && best; ++sweep) {
    if (sweep % 2 == 0) {
      for (size_t i = 1; i < r.order.size(); ++i) sort_row(r, r.order[i], true);
    } else {
      for (size_t i = r.order.size() - 1; i-- > 0;) sort_row(r, r.order[i], false);
    }
    const uint64_t now = crossings(r);
    worse = now < best ? 0 : worse + 1;
    if (now < best) best = now, kept = r.order;
  }
  for (size_t i = 0; i < kept.size(); ++i) place_row(r, r.order[i], std::move(kept[i]));
  return best;
}

}  // namespace cameo::layout
