#include "quant/weights/targets.h"

#include <algorithm>
#include <map>
#include <optional>

#include "ops/on.h"
#include "ops/soundness.h"
#include "support/error.h"

namespace cameo::quant {

namespace {

bool is_swap(const Graph& g, NodeId n) {
  const auto* t = g[n].as<op::Transpose>();
  return t && !g[n].outputs.empty() && (!t->perm || *t->perm == std::vector<int64_t>{1, 0});
}

struct Reading {
  WeightUse use;
  bool columns_are_outputs;
};

// How the node reads operand `index` as weights; nothing where it is no product or lookup of rows.
std::optional<Reading> reading(const Graph& g, NodeId n, size_t index, bool swapped) {
  if (g[n].outputs.empty() || !ops::has_operands(g[n])) return std::nullopt;  // in a branch that is never taken
  if (g[n].is("MatMul") && index == 1 && g[n].inputs[0] != g[n].inputs[1])
    return Reading{{WeightUse::Kind::product, n, {}}, !swapped};
  if (const auto* gemm = g[n].as<op::Gemm>(); gemm && index == 1 && !gemm->transA && gemm->alpha == 1 &&
                                              (gemm->beta == 1 || !g.input(n, 2)) && g[n].inputs[0] != g[n].inputs[1])
    return Reading{{WeightUse::Kind::product, n, {}}, (gemm->transB != 0) == swapped};
  if (const auto* gather = g[n].as<op::Gather>(); gather && index == 0 && gather->axis == 0 && !swapped)
    return Reading{{WeightUse::Kind::gather, n, {}}, false};
  return std::nullopt;
}

bool is_weight(const Graph& g, ValueId v) {
  if (!g.is_constant(v) || !g[v].fact.type.is_tensor() || !g[v].fact.has_rank() || g[v].fact.rank() < 2) return false;
  const DType t = g[v].fact.dtype();
  const Shape& shape = g[v].fact.shape();
  return (t == DType::f32 || t == DType::f16 || t == DType::bf16) &&
         std::all_of(shape.begin(), shape.end(), [](Dim d) { return d.is_literal() && d.literal() > 0; });
}

class Finder {
 public:
  Finder(const Graph& g, bool others_may_read) : g_(g), others_may_read_(others_may_read) {}

  std::optional<WeightTarget> target(ValueId v) {
    WeightTarget out;
    out.value = v;
    bool any = false, other = false;
    for (const Use& use : g_[v].uses) {
      if (!use.node) other = true;
      else if (is_swap(g_, use.node)) through(use.node, out, any, other);
      else if (const auto r = reading(g_, use.node, use.index, false)) add(*r, out, any);
      else other = true;
    }
    if (!any) return std::nullopt;
    if (other && !others_may_read_) out.why_not = "other nodes read it, too";
    if (g_[v].fact.rank() > 2) out.why_not = cat("it has ", g_[v].fact.rank(), " axes instead of two");
    return out;
  }

 private:
  void through(NodeId swap, WeightTarget& out, bool& any, bool& other) const {
    for (const Use& use : g_[g_[swap].outputs[0]].uses) {
      auto r = use.node ? reading(g_, use.node, use.index, true) : std::nullopt;
      if (!r) {
        other = true;
        continue;
      }
      r->use.transpose = swap;
      add(*r, out, any);
    }
  }

  static void add(const Reading& r, WeightTarget& out, bool& any) {
    if (any && out.columns_are_outputs != r.columns_are_outputs) out.why_not = "it is read along both axes";
    out.columns_are_outputs = r.columns_are_outputs;
    any = true;
    out.uses.push_back(r.use);
  }

  const Graph& g_;
  bool others_may_read_;
};

}  // namespace

std::shared_ptr<const Weight> WeightTarget::rows() const {
  if (!columns_are_outputs) return weight;
  const std::vector<int64_t> swapped{1, 0};
  return std::make_shared<const Weight>(weight->permuted(swapped));
}

std::vector<WeightTarget> weight_targets(const Graph& g, bool others_may_read) {
  std::vector<WeightTarget> out;
  Finder finder(g, others_may_read);
  for (uint32_t i = 0; i < g.value_capacity(); ++i)
    if (const ValueId v(i); g[v].kind != Value::Kind::dead && is_weight(g, v))
      if (auto t = finder.target(v)) {
        t->weight = g[v].weight ? g[v].weight : std::make_shared<const Weight>(Weight::of(*g.constant(v)));
        out.push_back(std::move(*t));
      }
  return out;
}

std::optional<WeightTarget> weight_uses(const Graph& g, ValueId v, bool others_may_read) {
  return Finder(g, others_may_read).target(v);
}

}  // namespace cameo::quant
