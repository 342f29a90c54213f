#include "passes/rules/everywhere.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cameo::passes {

namespace {

constexpr int deepest = 12;

// Numbers between which all elements lie; infinite where nothing is known.
struct Interval {
  double lo = -std::numeric_limits<double>::infinity(), hi = std::numeric_limits<double>::infinity();
};

bool is_mover(const Node& n) {
  static constexpr std::string_view movers[] = {"Expand",   "Flatten",  "Gather",    "GatherElements",
                                                "GatherND", "Identity", "Reshape",   "Slice",
                                                "Squeeze",  "Tile",     "Transpose", "Unsqueeze"};
  return std::any_of(std::begin(movers), std::end(movers), [&](std::string_view m) { return n.is(m); });
}

Interval of_constant(const Rewrite& rw, ValueId v) {
  constexpr uint64_t most = 1 << 16;
  const auto t = rw.constant(v, most);
  if (!t || t->count() == 0 || t->dtype() == DType::string || is_complex(t->dtype())) return {};
  Interval out{t->double_at(0), t->double_at(0)};
  for (int64_t i = 0; i < t->count(); ++i) {
    const double x = t->double_at(i);
    if (std::isnan(x)) return {};
    out = {std::min(out.lo, x), std::max(out.hi, x)};
  }
  return out;
}

// Of int64 numbers, which neither round nor, in positions and sizes, overflow.
Interval between(const Rewrite& rw, ValueId v, int depth) {
  if (!v || depth == deepest) return {};
  if (rw.is_constant(v)) return of_constant(rw, v);
  const NodeId n = rw.g[v].def;
  if (!rw.understood(n) || rw.dtype(v) != DType::i64) return {};
  const Node& node = rw.g[n];
  const auto operand = [&](size_t i) { return between(rw, rw.g.input(n, i), depth + 1); };
  if (is_mover(node)) return operand(0);
  Interval all;
  if (node.is("Shape") || node.is("Size")) all.lo = 0;
  if (node.is("Range") && operand(2).lo > 0) all.lo = operand(0).lo;
  if (node.is("Add")) {
    constexpr double no_overflow = 1e12;  // with positions and sizes, which memory bounds
    const double a = operand(0).lo, b = operand(1).lo;
    if (std::abs(a) < no_overflow && std::abs(b) < no_overflow) all.lo = a + b;
  }
  return all;
}

std::optional<double> compared(const Rewrite& rw, NodeId n, int depth) {
  const Node& node = rw.g[n];
  const bool greater = node.is("Greater") || node.is("GreaterOrEqual"),
             less = node.is("Less") || node.is("LessOrEqual");
  if (!greater && !less) return std::nullopt;
  const Interval a = between(rw, rw.g.input(n, greater ? 0 : 1), depth),
                 b = between(rw, rw.g.input(n, greater ? 1 : 0), depth);  // is a above b?
  const bool equal_too = node.is("GreaterOrEqual") || node.is("LessOrEqual");
  if (equal_too ? a.lo >= b.hi : a.lo > b.hi)
    return std::isfinite(a.lo) || std::isfinite(b.hi) ? std::optional(1.0) : std::nullopt;
  if (equal_too ? a.hi < b.lo : a.hi <= b.lo)
    return std::isfinite(a.hi) || std::isfinite(b.lo) ? std::optional(0.0) : std::nullopt;
  return std::nullopt;
}

std::optional<double> all_are(const Rewrite& rw, ValueId v, int depth) {
  if (!v || depth == deepest) return std::nullopt;
  if (rw.is_constant(v)) return rw.scalar(v);
  const NodeId n = rw.g[v].def;
  if (!rw.understood(n)) return std::nullopt;
  const Node& node = rw.g[n];
  const auto operand = [&](size_t i) { return all_are(rw, rw.g.input(n, i), depth + 1); };
  if (is_mover(node)) return operand(0);
  if (node.is("Where")) {
    if (const auto condition = operand(0)) return operand(*condition != 0 ? 1 : 2);
    const auto a = operand(1), b = operand(2);
    return a && b && *a == *b ? a : std::nullopt;
  }
  if (node.is("Not")) {
    const auto a = operand(0);
    return a ? std::optional(*a == 0 ? 1.0 : 0.0) : std::nullopt;
  }
  if (node.is("And") || node.is("Or")) {
    const double decides = node.is("Or") ? 1 : 0;
    const auto a = operand(0), b = operand(1);
    if (a == decides || b == decides) return decides;
    return a && b ? std::optional(1 - decides) : std::nullopt;
  }
  return compared(rw, n, depth + 1);
}

}  // namespace

std::optional<double> everywhere(const Rewrite& rw, ValueId v) { return all_are(rw, v, 0); }

}  // namespace cameo::passes
