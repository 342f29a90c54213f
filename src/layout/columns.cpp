// Brandes and Köpf, "Fast and simple horizontal coordinate assignment": vertices are aligned with a median neighbour
// into blocks, blocks are packed, four times from the four corners; the result is the median of the four. Blocks carry
// an offset per vertex, so that links with ports off their boxes' centres run straight too.
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "layout/rows.h"

namespace cameo::layout {

namespace {

constexpr uint32_t none = UINT32_MAX;

// Segments that are not aligned: those that cross a stretch of a wire between two of its bends.
std::vector<bool> conflicts(const Rows& r) {
  std::vector<bool> marked(r.segments.size(), false);
  for (size_t i = 0; i + 1 < r.order.size(); ++i) {
    const auto& lower = r.order[i + 1];
    uint32_t left = 0;
    size_t scanned = 0;
    for (size_t j = 0; j < lower.size(); ++j) {
      uint32_t inner = none;
      for (const uint32_t s : r.above[lower[j]])
        if (r.is_inner(r.segments[s])) inner = r.position[r.segments[s].upper];
      if (inner == none && j + 1 != lower.size()) continue;
      const uint32_t right = inner == none ? static_cast<uint32_t>(r.order[i].size()) : inner;
      for (; scanned <= j; ++scanned)
        for (const uint32_t s : r.above[lower[scanned]]) {
          const uint32_t at = r.position[r.segments[s].upper];
          if ((at < left || at > right) && !r.is_inner(r.segments[s])) marked[s] = true;
        }
      left = inner == none ? left : inner;
    }
  }
  return marked;
}

// One of the four: from the top or the bottom, from the left or the right.
class Corner {
 public:
  Corner(const Rows& r, const Spacing& spacing, const std::vector<bool>& marked, bool down, bool left)
      : r_(r),
        spacing_(spacing),
        marked_(marked),
        down_(down),
        left_(left),
        root_(r.row.size()),
        shift_(r.row.size(), 0) {
    std::iota(root_.begin(), root_.end(), 0);
    align();
    compact();
  }
  std::vector<double> x() const {
    std::vector<double> out(r_.row.size());
    for (size_t v = 0; v < out.size(); ++v) out[v] = at_[root_[v]] + shift_[v];
    return out;
  }

 private:
  uint32_t other(const Segment& s) const { return down_ ? s.upper : s.lower; }

  void align() {
    std::vector<bool> taken(r_.row.size(), false);  // a vertex has one block towards us only
    const size_t rows = r_.order.size();
    for (size_t step = 1; step < rows; ++step) align_row(r_.order[down_ ? step : rows - 1 - step], taken);
  }

  void align_row(const std::vector<uint32_t>& row, std::vector<bool>& taken) {
    int64_t last = left_ ? -1 : INT64_MAX;
    std::vector<uint32_t> near;
    for (size_t k = 0; k < row.size(); ++k) {
      const uint32_t v = row[left_ ? k : row.size() - 1 - k];
      near = down_ ? r_.above[v] : r_.below[v];
      if (near.empty()) continue;
      std::stable_sort(near.begin(), near.end(), [&](uint32_t a, uint32_t b) {
        return r_.position[other(r_.segments[a])] < r_.position[other(r_.segments[b])];
      });
      const size_t low = (near.size() - 1) / 2, high = near.size() / 2;
      for (const size_t m : left_ ? std::array{low, high} : std::array{high, low}) {
        const Segment& s = r_.segments[near[m]];
        const uint32_t u = other(s);
        const int64_t place = r_.position[u];
        if (marked_[near[m]] || taken[u] || (left_ ? place <= last : place >= last)) continue;
        taken[u] = true;
        root_[v] = root_[u];
        // The ports' x are to be equal: at(u) + port(u) = at(v) + port(v).
        shift_[v] = shift_[u] + (down_ ? s.upper_port - s.lower_port : s.lower_port - s.upper_port);
        last = place;
        break;
      }
    }
  }

  double apart(uint32_t u, uint32_t v) const {
    const bool wires = r_.is_bend(u) && r_.is_bend(v);
    return (r_.width[u] + r_.width[v]) / 2 + (wires ? spacing_.wires : spacing_.beside);
  }

  struct Gap {
    uint32_t left, right;  // blocks
    double least;
  };

  // Blocks as far to the left as their neighbours allow, then as far to the right as costs nothing; mirrored for the
  // corners on the right.
  void compact() {
    std::vector<Gap> gaps;
    for (const auto& row : r_.order)
      for (size_t i = 1; i < row.size(); ++i)
        gaps.push_back(
            {root_[row[i - 1]], root_[row[i]], apart(row[i - 1], row[i]) + shift_[row[i - 1]] - shift_[row[i]]});
    const std::vector<uint32_t> sorted = sorted_blocks(gaps);
    std::vector<std::vector<uint32_t>> before(r_.row.size()), after(r_.row.size());
    for (uint32_t i = 0; i < gaps.size(); ++i) {
      after[gaps[i].left].push_back(i);
      before[gaps[i].right].push_back(i);
    }
    at_.assign(r_.row.size(), 0);
    if (left_) {
      for (const uint32_t b : sorted)
        for (const uint32_t g : before[b]) at_[b] = std::max(at_[b], at_[gaps[g].left] + gaps[g].least);
      for (auto it = sorted.rbegin(); it != sorted.rend(); ++it) pull(*it, after[*it], gaps, true);
    } else {
      for (auto it = sorted.rbegin(); it != sorted.rend(); ++it)
        for (const uint32_t g : after[*it]) at_[*it] = std::min(at_[*it], at_[gaps[g].right] - gaps[g].least);
      for (const uint32_t b : sorted) pull(b, before[b], gaps, false);
    }
  }

  void pull(uint32_t block, const std::vector<uint32_t>& list, const std::vector<Gap>& gaps, bool to_right) {
    if (list.empty()) return;
    double limit = to_right ? std::numeric_limits<double>::max() : std::numeric_limits<double>::lowest();
    for (const uint32_t g : list)
      limit = to_right ? std::min(limit, at_[gaps[g].right] - gaps[g].least)
                       : std::max(limit, at_[gaps[g].left] + gaps[g].least);
    at_[block] = to_right ? std::max(at_[block], limit) : std::min(at_[block], limit);
  }

  // From left to right; blocks do not cross, so there are no cycles.
  std::vector<uint32_t> sorted_blocks(const std::vector<Gap>& gaps) const {
    std::vector<uint32_t> missing(r_.row.size(), 0), out;
    std::vector<std::vector<uint32_t>> after(r_.row.size());
    for (const Gap& g : gaps) {
      ++missing[g.right];
      after[g.left].push_back(g.right);
    }
    for (uint32_t v = 0; v < root_.size(); ++v)
      if (root_[v] == v && !missing[v]) out.push_back(v);
    for (size_t i = 0; i < out.size(); ++i)
      for (const uint32_t b : after[out[i]])
        if (!--missing[b]) out.push_back(b);
    return out;
  }

  const Rows& r_;
  const Spacing& spacing_;
  const std::vector<bool>& marked_;
  bool down_, left_;
  std::vector<uint32_t> root_;
  std::vector<double> shift_, at_;
};

}  // namespace

std::vector<double> columns(const Rows& r, const Spacing& spacing) {
  const size_t n = r.row.size();
  if (!n) return {};
  const auto marked = conflicts(r);
  std::array<std::vector<double>, 4> all;
  std::array<double, 4> least{}, most{};
  size_t narrowest = 0;
  for (size_t i = 0; i < 4; ++i) {
    all[i] = Corner(r, spacing, marked, i < 2, i % 2 == 0).x();
    least[i] = std::numeric_limits<double>::max();
    most[i] = std::numeric_limits<double>::lowest();
    for (size_t v = 0; v < n; ++v) {
      least[i] = std::min(least[i], all[i][v] - r.width[v] / 2);
      most[i] = std::max(most[i], all[i][v] + r.width[v] / 2);
    }
    if (most[i] - least[i] < most[narrowest] - least[narrowest]) narrowest = i;
  }
  for (size_t i = 0; i < 4; ++i) {
    const double by = i % 2 == 0 ? least[narrowest] - least[i] : most[narrowest] - most[i];
    for (double& x : all[i]) x += by;
  }
  std::vector<double> out(n);
  for (size_t v = 0; v < n; ++v) {
    std::array<double, 4> four = {all[0][v], all[1][v], all[2][v], all[3][v]};
    std::sort(four.begin(), four.end());
    out[v] = (four[1] + four[2]) / 2;
  }
  const double left = [&] {
    double l = std::numeric_limits<double>::max();
    for (size_t v = 0; v < n; ++v) l = std::min(l, out[v] - r.width[v] / 2);
    return l;
  }();
  for (double& x : out) x -= left;
  return out;
}

}  // namespace cameo::layout
