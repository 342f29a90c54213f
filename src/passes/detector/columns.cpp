#include "passes/detector/columns.h"

#include <algorithm>
#include <set>

#include "ops/generated/attributes.h"
#include "ops/op_def.h"

namespace cameo::passes {

namespace {

constexpr int deepest = 200;      // values that are followed one into the other
constexpr int most_steps = 5000;  // in all: a file may join a value with itself again and again

struct Place {
  ValueId v;
  int64_t axis = 0;
};

std::optional<int64_t> size_at(const Graph& g, Place p) {
  if (!g[p.v].fact.has_rank() || p.axis < 0 || p.axis >= g[p.v].fact.rank()) return std::nullopt;
  return g[p.v].fact.shape()[static_cast<size_t>(p.axis)].known();
}

// The axis of `from` that is this one of its reshaped form, where the elements beside it only moved among themselves.
std::optional<int64_t> before_reshape(const Graph& g, ValueId from, Place to) {
  if (!g[from].fact.has_rank() || !size_at(g, to)) return std::nullopt;
  const Shape &a = g[from].fact.shape(), &b = g[to.v].fact.shape();
  const auto at = static_cast<size_t>(to.axis);
  if (at < a.size() && a[at] == b[at] && std::equal(a.begin(), a.begin() + to.axis, b.begin())) return to.axis;
  const auto behind = static_cast<int64_t>(b.size()) - to.axis;  // the same from the back
  const auto other = static_cast<int64_t>(a.size()) - behind;
  if (other >= 0 && std::equal(a.begin() + other, a.end(), b.begin() + to.axis)) return other;
  return std::nullopt;
}

// One step towards the inputs through what does not touch the axis; none where there is no such step.
std::optional<Place> step_back(const Graph& g, Place p) {
  const NodeId n = g[p.v].def;
  if (!n) return std::nullopt;
  const ValueId x = g.input(n, 0);
  if (!x) return std::nullopt;
  if (g[n].is("Identity") || g[n].is("Cast") || g[n].is("Clip")) return Place{x, p.axis};
  if (const auto* t = g[n].as<op::Transpose>()) {
    if (!t->perm || p.axis >= static_cast<int64_t>(t->perm->size())) return std::nullopt;
    return Place{x, (*t->perm)[static_cast<size_t>(p.axis)]};
  }
  if (g[n].is("Reshape") || g[n].is("Squeeze") || g[n].is("Unsqueeze") || g[n].is("Flatten"))
    if (const auto axis = before_reshape(g, x, p)) return Place{x, *axis};
  return std::nullopt;
}

int64_t of_axis(int64_t axis, const Graph& g, ValueId v) { return axis < 0 ? axis + g[v].fact.rank() : axis; }

class Tracing {
 public:
  explicit Tracing(const Graph& g) : g_(g) {}

  std::vector<Columns> columns(Place p, int depth = 0) const {
    const auto size = size_at(g_, p);
    if (!size) return {};
    const std::vector<Columns> whole{{*size, nature_of(g_, p.v)}};
    if (depth > deepest || ++steps_ > most_steps || !g_[p.v].def) return whole;
    if (const auto back = step_back(g_, p)) return or_else(columns(*back, depth + 1), whole);
    const NodeId n = g_[p.v].def;
    if (const auto* c = g_[n].as<op::Concat>()) {
      if (of_axis(c->axis, g_, p.v) != p.axis) return or_else(columns({g_.input(n, 0), p.axis}, depth + 1), whole);
      std::vector<Columns> out;
      for (const ValueId part : g_[n].inputs) {
        const auto more = columns({part, p.axis}, depth + 1);
        if (more.empty()) return whole;
        out.insert(out.end(), more.begin(), more.end());
      }
      return out;
    }
    if (const auto* s = g_[n].as<op::Split>(); s && g_[g_.input(n, 0)].fact.has_rank()) {
      const Place in{g_.input(n, 0), p.axis};
      if (of_axis(s->axis, g_, p.v) != p.axis) return or_else(columns(in, depth + 1), whole);
      int64_t first = 0;
      for (const ValueId o : g_[n].outputs) {
        if (o == p.v) return or_else(part(columns(in, depth + 1), first, *size), whole);
        first += size_at(g_, {o, p.axis}).value_or(0);
      }
    }
    if (g_[n].is("Slice")) return or_else(sliced(n, p, *size, depth), whole);
    return whole;
  }

  // Concat nodes along other axes on the way.
  std::vector<ValueId> levels(Place p) const {
    for (int i = 0; i < deepest; ++i) {
      if (const auto back = step_back(g_, p)) {
        p = *back;
        continue;
      }
      const NodeId n = g_[p.v].def;
      const auto* c = n ? g_[n].as<op::Concat>() : nullptr;
      if (!c || of_axis(c->axis, g_, p.v) == p.axis) break;
      return g_[n].inputs;
    }
    return {p.v};
  }

 private:
  static std::vector<Columns> or_else(std::vector<Columns> found, const std::vector<Columns>& whole) {
    return found.empty() ? whole : found;
  }

  static std::vector<Columns> part(const std::vector<Columns>& all, int64_t first, int64_t count) {
    std::vector<Columns> out;
    int64_t at = 0;
    for (const Columns& c : all) {
      const int64_t from = std::max(at, first), to = std::min(at + c.count, first + count);
      if (from < to) out.push_back({to - from, c.nature});
      at += c.count;
    }
    int64_t found = 0;
    for (const Columns& c : out) found += c.count;
    return found == count ? out : std::vector<Columns>();
  }

  std::optional<std::vector<int64_t>> ints(NodeId n, size_t i) const {
    const ValueId v = g_.input(n, i);
    const auto t = v ? g_.constant(v) : std::nullopt;
    return t ? std::optional(t->to_ints()) : std::nullopt;
  }

  std::vector<Columns> sliced(NodeId n, Place p, int64_t size, int depth) const {
    const ValueId x = g_.input(n, 0);
    const auto starts = ints(n, 1), axes = ints(n, 3), steps = ints(n, 4);
    const auto all = size_at(g_, {x, p.axis});
    if (!starts || !all || (g_.input(n, 3) && !axes) || (g_.input(n, 4) && !steps)) return {};
    int64_t first = 0;
    for (size_t i = 0; i < starts->size(); ++i) {
      const int64_t axis = axes ? of_axis((*axes)[i], g_, x) : static_cast<int64_t>(i);
      if (axis != p.axis) continue;
      if (steps && (*steps)[i] != 1) return {};
      first = std::clamp<int64_t>((*starts)[i] < 0 ? (*starts)[i] + *all : (*starts)[i], 0, *all);
    }
    return part(columns({x, p.axis}, depth + 1), first, size);
  }

  const Graph& g_;
  mutable int steps_ = 0;
};

bool moves_only(const Node& n) {
  static constexpr std::string_view names[] = {"Identity", "Cast",      "Clip",           "Transpose",       "Reshape",
                                               "Squeeze",  "Unsqueeze", "Flatten",        "Concat",          "Slice",
                                               "Split",    "Gather",    "QuantizeLinear", "DequantizeLinear"};
  return std::any_of(std::begin(names), std::end(names), [&](std::string_view name) { return n.is(name); });
}

Nature nature(const Graph& g, ValueId v, int products);

// A product of probabilities is one.
Nature nature_of_product(const Graph& g, ValueId a, ValueId b, int products) {
  constexpr int most_products = 3;
  if (products >= most_products) return Nature::computed;
  const auto is_probability = [&](ValueId v) {
    const Nature n = nature(g, v, products + 1);
    return n == Nature::probability || n == Nature::softmax;
  };
  return is_probability(a) && is_probability(b) ? Nature::probability : Nature::computed;
}

Nature nature(const Graph& g, ValueId v, int products) {
  for (int i = 0; i < deepest && v && g[v].def; ++i) {
    const NodeId n = g[v].def;
    if (moves_only(g[n])) {
      v = g.input(n, 0);
      continue;
    }
    if (g[n].is("Sigmoid") || g[n].is("HardSigmoid")) return Nature::probability;
    if (g[n].is("Softmax")) return Nature::softmax;
    if (g[n].is("Conv") || g[n].is("Gemm") || g[n].is("MatMul")) return Nature::linear;
    const ValueId a = g.input(n, 0), b = g.input(n, 1);
    if (g[n].inputs.size() != 2 || !a || !b) return Nature::computed;
    if (g[n].is("Mul")) return nature_of_product(g, a, b, products);
    if (!g[n].is("Add") || g.is_constant(a) == g.is_constant(b)) return Nature::computed;
    v = g.is_constant(a) ? b : a;  // a bias
    if (const NodeId before = g[v].def; !before || !(g[before].is("MatMul") || g[before].is("Conv")))
      return Nature::computed;
  }
  return Nature::computed;
}

}  // namespace

Nature nature_of(const Graph& g, ValueId v) { return nature(g, v, 0); }

std::vector<Columns> columns_of(const Graph& g, ValueId v, int64_t axis) { return Tracing(g).columns({v, axis}); }

std::vector<ValueId> levels_of(const Graph& g, ValueId v, int64_t axis) { return Tracing(g).levels({v, axis}); }

bool depends_on(const Graph& g, ValueId v, std::initializer_list<std::string_view> operators) {
  std::set<NodeId> seen;
  std::vector<ValueId> open{v};
  while (!open.empty()) {
    const NodeId n = g[open.back()].def;
    open.pop_back();
    if (!n || !seen.insert(n).second) continue;
    if (std::any_of(operators.begin(), operators.end(), [&](std::string_view name) { return g[n].is(name); }))
      return true;
    for (const ValueId x : g[n].inputs)
      if (x) open.push_back(x);
  }
  return false;
}

}  // namespace cameo::passes
