// f16 and bf16: operators that have a fast kernel for f32 get one, between Casts. Every result is rounded to 16 bits,
// as the reference does; where only choosing and moving elements lies between, once behind it, so that an activation
// still joins its convolution. Casts of weights stay until the weights are packed, unless they are small enough to be
// folded.
#include <algorithm>

#include "passes/engine_set.h"
#include "passes/rules/engine/tables.h"

namespace cameo::passes {

namespace {

bool is_half(const Graph& g, ValueId v) {
  return v && g[v].fact.type.is_tensor() && (g[v].fact.dtype() == DType::f16 || g[v].fact.dtype() == DType::bf16);
}

bool is_mover(const Node& n) {
  static constexpr std::string_view movers[] = {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Transpose",
                                                "Concat",  "Split",   "Slice",   "Expand",    "Gather"};
  return std::any_of(std::begin(movers), std::end(movers), [&](std::string_view m) { return n.is(m); });
}

// Rounding commutes with these: they give back some of the numbers they were given, or zero.
bool commutes(const Node& n) { return is_mover(n) || n.is("Relu") || n.is("MaxPool"); }

bool computes_fast(const EngineTarget& engine, const OpInfo& op) {
  for (const std::string_view bytes : {"Cast", "Quantize", "QLinear", "quantize"})
    if (op.name.find(bytes) != op.name.npos) return false;
  return engine.is_fast(op) || op.name == "BatchNormalization";  // which becomes a product and a sum
}

// The f32 value that a value of 16 bits was rounded from.
ValueId unrounded(const Rewrite& rw, ValueId v) {
  if (!rw.made_by<op::Cast>(v)) return {};
  const ValueId from = rw.operand(v, 0);
  return rw.fact(from).type.is_tensor() && rw.dtype(from) == DType::f32 ? from : ValueId();
}

// Whether the numbers of an f32 value are numbers of 16 bits already: widened ones, moved or chosen from.
bool is_rounded(const Rewrite& rw, ValueId v, DType to, int& steps) {
  const NodeId n = v ? rw.g[v].def : NodeId();
  if (!rw.understood(n) || ++steps > 64) return false;  // a second rounding would change nothing, and cost little
  if (rw.g[n].is("Cast")) return is_half(rw.g, rw.g.input(n, 0)) && rw.dtype(rw.g.input(n, 0)) == to;
  if (!commutes(rw.g[n])) return false;
  const auto& in = rw.g[n].inputs;
  return std::all_of(in.begin(), in.end(), [&](ValueId i) {
    return !i || !rw.fact(i).type.is_tensor() || rw.dtype(i) != DType::f32 || is_rounded(rw, i, to, steps);
  });
}

// The same numbers in f32. A Cast stands right behind what it reads, so that all readers can share it.
ValueId widened(Rewrite& rw, ValueId v) {
  int steps = 0;
  if (const ValueId from = unrounded(rw, v); from && is_rounded(rw, from, rw.dtype(v), steps)) return from;
  const Graph& g = rw.g;
  for (const Use& u : g[v].uses)
    if (u.node && u.node.index >= rw.first_made && g[u.node].is("Cast") && g[u.node].home == g[v].home &&
        rw.dtype(g[u.node].outputs[0]) == DType::f32)
      return g[u.node].outputs[0];
  rw.on.move_to(g[v].home, g[v].def ? g[g[v].def].next : g[g[v].home].first);
  const ValueId out = rw.on.cast(v, DType::f32);
  rw.on.move_to(rw.root().home, rw.node);
  return out;
}

bool is_of_tensors(const Rewrite& rw) {
  const auto tensors = [&](const std::vector<ValueId>& values) {
    return std::all_of(values.begin(), values.end(), [&](ValueId v) { return !v || rw.fact(v).type.is_tensor(); });
  };
  return rw.root().op->domain.empty() && rw.root().regions.empty() && tensors(rw.root().inputs) &&
         tensors(rw.root().outputs);
}

bool reads_half(const Rewrite& rw) {
  const auto& in = rw.root().inputs;
  return std::any_of(in.begin(), in.end(), [&](ValueId v) { return is_half(rw.g, v); });
}

// What only moves data is worth it where the data is in f32 already.
bool moves_wide_data(const Rewrite& rw) {
  const auto& in = rw.root().inputs;
  return std::any_of(in.begin(), in.end(),
                     [&](ValueId v) { return is_half(rw.g, v) && unrounded(rw, v) && !rw.is_constant(v); });
}

void widen(Rewrite& rw) {
  if (!rw.root().op->domain.empty() || !reads_half(rw) || !is_of_tensors(rw) || rw.root().is("Softmax")) return;
  if (is_mover(rw.root()) ? !moves_wide_data(rw) : !computes_fast(*rw.engine, *rw.root().op)) return;
  if (rw.root().is("Attention") && rw.dtype(rw.in(0)) == DType::bf16)
    return rw.no("attention rounds between its steps, which bf16 shows");
  const bool through = commutes(rw.root());
  std::vector<ValueId> inputs = rw.root().inputs;
  for (ValueId& v : inputs) {
    if (!is_half(rw.g, v)) continue;
    const ValueId from = through ? unrounded(rw, v) : ValueId();
    v = from ? from : widened(rw, v);
  }
  const Node n = rw.root();
  std::vector<ValueId> outputs = rw.on.emit(def(*n.op), n.attrs, std::move(inputs), n.outputs.size());
  rw.g.set_name(rw.maker(outputs[0]), n.name);
  for (size_t i = 0; i < outputs.size(); ++i)
    if (is_half(rw.g, rw.out(i))) outputs[i] = rw.on.cast(outputs[i], rw.dtype(rw.out(i)));
  rw.shape_is_kept();  // the same operator on the same sizes
  rw.replace(std::move(outputs));
}

// Softmax in 16 bits rounds at every step. The reference adds up short rows of bf16 in bf16; only long ones are added
// here.
void widen_softmax(Rewrite& rw) {
  const ValueId x = rw.in(0);
  if (!is_half(rw.g, x) || !is_of_tensors(rw) || !rw.has_rank(x) || !computes_fast(*rw.engine, *rw.root().op)) return;
  const int64_t rank = rw.rank(x), axis = rw.attrs<op::Softmax>().axis + (rw.attrs<op::Softmax>().axis < 0 ? rank : 0);
  if (axis < 0 || axis >= rank) return;
  const DType t = rw.dtype(x);
  const Dim size = rw.shape(x)[static_cast<size_t>(axis)];
  constexpr int64_t short_row = 32;
  if (t == DType::bf16 && !(size.is_literal() && size.literal() > short_row))
    return rw.no("the reference adds up short rows of bf16 in bf16");
  const auto round = [&](ValueId v) { return rw.on.cast(rw.on.cast(v, t), DType::f32); };
  const ValueId wide = widened(rw, x), axes = rw.on.ints({axis});
  const ValueId powers = round(rw.on.Exp(round(rw.on.Sub(wide, rw.on.ReduceMax(wide, axes)))));
  const ValueId y = rw.on.Div(powers, round(rw.on.ReduceSum(powers, axes)));
  rw.shape_is_kept();
  rw.replace(rw.on.cast(y, t));
}

}  // namespace

std::vector<Rule> half_rules() {
  return {rule("widen-softmax", {"Softmax"}, widen_softmax).rounding().growing(),
          rule("widen", {}, widen).rounding().growing()};
}

}  // namespace cameo::passes
