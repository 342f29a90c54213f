#include <algorithm>

#include "passes/rule.h"

namespace cameo::passes {

std::string_view name(RuleClass c) {
  switch (c) {
    case RuleClass::exact: return "exact";
    case RuleClass::algebra: return "algebra";
    case RuleClass::rounding: return "rounding";
  }
  return "";
}

namespace {
RegionId outermost(const Graph& g, RegionId r) {
  while (g[r].parent) r = g[r].parent;
  return r;
}
}  // namespace

RuleOn::RuleOn(Graph& g, RegionId region, NodeId before) : On(g, region, before), outermost_(outermost(g, region)) {}

ValueId RuleOn::constant(const Tensor& t) { return graph().add_constant(t, "", outermost_); }

ValueId RuleOn::weight(Weight w, std::string name) {
  w.encoded = {};
  return graph().add_initializer(outermost_, std::move(name), std::make_shared<const Weight>(std::move(w)));
}

Rewrite::Rewrite(Graph& graph, NodeId n, int64_t target, bool keep_reasons)
    : g(graph), node(n), opset(target), on(graph, graph[n].home, n), keep_reasons_(keep_reasons) {}

void Rewrite::no(std::string_view reason) {
  if (keep_reasons_) why = reason;
}

bool Rewrite::same_shape(const Shape& a, const Shape& b) const {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [&](Dim x, Dim y) { return equal(x, y); });
}

bool Rewrite::is_constant(ValueId v) const { return v && (g.is_constant(v) || (real_sizes && g[v].fact.tensor())); }

std::optional<Tensor> Rewrite::constant(ValueId v, uint64_t budget_bytes) const {
  if (!v) return std::nullopt;
  if (const Tensor* t = real_sizes ? g[v].fact.tensor() : nullptr) return *t;
  return g.constant(v, budget_bytes);
}

Tensor Rewrite::content(ValueId v) const {
  std::optional<Tensor> t = constant(v, UINT64_MAX);
  invariant(t.has_value(), "what is no constant has no content");
  return *std::move(t);
}

std::optional<std::vector<int64_t>> Rewrite::ints(ValueId v) const {
  if (!v) return std::nullopt;
  const auto known = g[v].fact.ints();
  if (known) {
    std::vector<int64_t> out;
    for (const Dim d : *known) {
      if (!d.is_literal()) return std::nullopt;
      out.push_back(d.literal());
    }
    return out;
  }
  const auto t = constant(v);
  return t && (is_int(t->dtype()) || t->dtype() == DType::boolean) ? std::optional(t->to_ints()) : std::nullopt;
}

std::optional<double> Rewrite::scalar(ValueId v) const {
  constexpr uint64_t most = 1 << 16;  // a weight is not a scalar, and reading it would cost
  const auto t = constant(v, most);
  if (!t || t->count() == 0 || t->dtype() == DType::string || is_complex(t->dtype())) return std::nullopt;
  const double first = t->double_at(0);
  for (int64_t i = 1; i < t->count(); ++i)
    if (t->double_at(i) != first) return std::nullopt;
  return first;
}

std::optional<std::vector<int64_t>> Rewrite::axes(NodeId n, size_t i, int64_t rank) const {
  auto out = ints(g.input(n, i));
  if (!out) return std::nullopt;
  for (int64_t& a : *out) {
    if (a < -rank || a >= rank) return std::nullopt;
    a += a < 0 ? rank : 0;
  }
  std::sort(out->begin(), out->end());
  if (std::adjacent_find(out->begin(), out->end()) != out->end()) return std::nullopt;
  return out;
}

const Weight* Rewrite::weight(ValueId v) const {
  return v && g[v].kind == Value::Kind::initializer ? g[v].weight.get() : nullptr;
}

}  // namespace cameo::passes
