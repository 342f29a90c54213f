#include "engine/prepare.h"

#include <algorithm>
#include <cmath>

#include "engine/deferred_constants.h"
#include "kernels/carrier.h"
#include "ops/eval.h"
#include "ops/gate.h"
#include "ops/on.h"
#include "support/error.h"

namespace cameo::engine {

namespace {

// A result may be larger than what it is made of only while it is small.
constexpr uint64_t small_bytes = 1u << 20;

ValueId make_constant(Graph& g, const Tensor& t, const std::string& name) {
  return g.add_initializer(g.main(), name, std::make_shared<const Weight>(Weight::of(t)));
}

bool foldable(const Graph& g, const Node& n) {
  if (n.op->is_opaque() || !n.regions.empty() || n.inputs.empty() || n.is("Constant")) return false;
  const OpRules& rules = def(*n.op).rules;
  if (!rules.eval || !rules.deterministic) return false;
  return std::all_of(n.inputs.begin(), n.inputs.end(), [&](ValueId v) { return !v || g.is_constant(v); });
}

// Large weights in fewer bits stay as they lie until they are packed.
bool stays_narrow(const Graph& g, NodeId n) {
  return deferred_constant(g, g[n].outputs[0]) && g.constant(g[n].inputs[0], small_bytes) == std::nullopt;
}

void fold_node(Graph& g, NodeId id) {
  const Node& n = g[id];
  std::vector<Datum> values(n.inputs.size());
  std::vector<const Datum*> inputs;
  uint64_t bytes = 0;
  for (size_t i = 0; i < n.inputs.size(); ++i) {
    if (n.inputs[i]) {
      values[i] = Datum(*g.constant(n.inputs[i]));
      bytes += values[i].tensor.bytes().size();
    }
    inputs.push_back(n.inputs[i] ? &values[i] : nullptr);
  }
  uint64_t grown = 0;
  for (const ValueId v : n.outputs) {  // ask inference before making something huge
    const Type& t = g[v].fact.type;
    if (!t.is_tensor() || !t.has_rank()) return;
    int64_t count = 1;
    for (const Dim d : *t.shape) {
      if (!d.is_literal() || d.literal() < 0 || d.literal() > INT32_MAX ||
          (count *= std::max<int64_t>(1, d.literal())) > INT32_MAX)
        return;
    }
    grown += packed_bytes(t.elem, count);
  }
  if (grown > std::max(small_bytes, 2 * bytes)) return;
  std::vector<Datum> results;
  try {
    results = evaluate_node(n, inputs);
  } catch (const Error&) {
    return;  // said when the model is run
  }
  if (!std::all_of(results.begin(), results.end(), [](const Datum& d) { return d.kind == Datum::Kind::tensor; }))
    return;
  for (size_t i = 0; i < results.size(); ++i) {
    const ValueId old = g[id].outputs[i];
    if (g.used(old)) g.replace_uses(old, make_constant(g, results[i].tensor, g[old].name));
  }
  g.erase(id);
}

std::optional<std::vector<float>> floats(const Graph& g, ValueId v) {
  if (!is_known(g, v) || g[v].fact.dtype() != DType::f32) return std::nullopt;
  const Loaded<float> x(*known(g, v));
  return std::vector<float>(x.span().begin(), x.span().end());
}

// y = factor * x + shift, per channel.
struct Affine {
  std::vector<float> factor, shift;
};
std::optional<Affine> affine_of(const Graph& g, const Node& n) {
  const auto* a = n.as<op::BatchNormalization>();
  if (!a || a->training_mode || n.outputs.size() != 1 || n.inputs.size() != 5) return std::nullopt;
  const auto scale = floats(g, n.inputs[1]), bias = floats(g, n.inputs[2]), mean = floats(g, n.inputs[3]),
             variance = floats(g, n.inputs[4]);
  if (!scale || !bias || !mean || !variance) return std::nullopt;
  if (scale->empty() || bias->size() != scale->size() || mean->size() != scale->size() ||
      variance->size() != scale->size())
    return std::nullopt;
  Affine out;
  for (size_t i = 0; i < scale->size(); ++i) {
    const double factor = (*scale)[i] / std::sqrt(double{(*variance)[i]} + a->epsilon);
    out.factor.push_back(static_cast<float>(factor));
    out.shift.push_back(static_cast<float>((*bias)[i] - (*mean)[i] * factor));
  }
  return out;
}

bool fold_into_conv(Graph& g, NodeId bn, const Affine& a) {
  const ValueId x = g[bn].inputs[0];
  const NodeId conv = g[x].def;
  if (!conv || !g[conv].is("Conv") || g[x].uses.size() != 1) return false;
  const ValueId w = g.input(conv, 1), b = g.input(conv, 2);
  const auto old = floats(g, b);
  if (b && (!old || old->size() != a.factor.size())) return false;
  auto weights = floats(g, w);
  if (!weights || weights->empty() || known(g, w)->shape()[0] != static_cast<int64_t>(a.factor.size())) return false;
  const size_t inner = weights->size() / a.factor.size();
  for (size_t i = 0; i < weights->size(); ++i) (*weights)[i] *= a.factor[i / inner];
  std::vector<float> shift = a.shift;
  for (size_t i = 0; old && i < shift.size(); ++i) shift[i] += (*old)[i] * a.factor[i];
  const auto shape = known(g, w)->shape();
  g.set_input(conv, 1, make_constant(g, Tensor::of<float>(DType::f32, shape, *weights), g[w].name));
  g.set_input(conv, 2,
              make_constant(g, Tensor::of<float>(DType::f32, {static_cast<int64_t>(shift.size())}, shift),
                            g[w].name + ".bias"));
  g.replace_uses(g[bn].outputs[0], x);
  g.erase(bn);
  return true;
}

void spell_out(Graph& g, NodeId bn, const Affine& a) {
  const Fact& x = g[g[bn].inputs[0]].fact;
  // Products and sums would broadcast where the operator has to refuse.
  if (!x.has_rank() || x.rank() < 2 ||
      g.facts.equal(x.shape()[1], Dim(static_cast<int64_t>(a.factor.size()))) != Answer::yes)
    return;
  std::vector<int64_t> shape(static_cast<size_t>(x.rank()) - 1, 1);
  shape[0] = static_cast<int64_t>(a.factor.size());
  On on(g, g[bn].home, bn);
  const ValueId scaled = on.Mul(g[bn].inputs[0], on.constant(Tensor::of<float>(DType::f32, shape, a.factor)));
  g.replace_uses(g[bn].outputs[0], on.Add(scaled, on.constant(Tensor::of<float>(DType::f32, shape, a.shift))));
  g.erase(bn);
}

}  // namespace

bool has_operands(const Node& n) {
  const size_t least = n.op->is_opaque() ? 0 : def(*n.op).newest().min_in;
  return n.inputs.size() >= least &&
         std::all_of(n.inputs.begin(), n.inputs.begin() + static_cast<std::ptrdiff_t>(least),
                     [](ValueId v) { return v.valid(); });
}

void prepare_once(Graph& g, bool onednn) {
  for (const NodeId n : g.nodes(g.main())) check_node(g, n);
  widen_halves(g);
  use_integers(g, onednn);
  for (const NodeId n : g.nodes(g.main()))
    if (foldable(g, g[n]) && !stays_narrow(g, n)) fold_node(g, n);
  for (const NodeId n : g.nodes(g.main()))
    if (const auto a = affine_of(g, g[n]); a && !fold_into_conv(g, n, *a)) spell_out(g, n, *a);
}

}  // namespace cameo::engine
