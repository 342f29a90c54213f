// Models in f16 and bf16: operators that have a fast kernel for f32 get one, with Casts where other operators, outputs
// or bodies read their results. Every result is rounded to 16 bits, as the reference does; where only choosing and
// moving elements lies between, once behind it, so that an activation still joins its convolution.
#include <algorithm>
#include <map>

#include "engine/emit.h"
#include "engine/prepare.h"
#include "engine/simd/half.h"
#include "kernels/carrier.h"
#include "ops/on.h"

namespace cameo::engine {

namespace {

constexpr int64_t small_count = 1 << 16;  // constants up to here are widened at once, larger ones when they are packed

bool is_mover(std::string_view op) {
  static constexpr std::string_view movers[] = {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Transpose",
                                                "Concat",  "Split",   "Slice",   "Expand",    "Gather"};
  return std::find(std::begin(movers), std::end(movers), op) != std::end(movers);
}

bool computes_fast(std::string_view op) {
  if (op == "Cast" || op.find("Quantize") != op.npos || op.find("QLinear") != op.npos || op.find("quantize") != op.npos)
    return false;
  const auto has = [&](std::span<const EmitterRow> rows) {
    return std::any_of(rows.begin(), rows.end(), [&](const EmitterRow& r) { return r.op == op; });
  };
  return has(onednn_emitters()) || has(simd_emitters()) || op == "BatchNormalization";
}

// Rounding commutes with these: they give back some of the numbers they were given, or zero.
bool commutes(const Node& n) { return is_mover(n.op->name) || n.is("Relu") || n.is("MaxPool"); }

class Widener {
 public:
  explicit Widener(Graph& g) : g_(g) {}

  void region(RegionId r) {
    for (const NodeId n : g_.nodes(r)) {
      for (const RegionId inner : std::vector<RegionId>(g_[n].regions)) {
        if (!inner) continue;
        const auto outside = twins_;
        region(inner);
        twins_ = outside;  // what was made inside is not visible outside
      }
      if (eligible(g_[n])) node(n);
    }
  }
  // Casts that turned out to be unused.
  void sweep() {
    for (size_t i = casts_.size(); i-- > 0;)
      if (!g_.used(g_[casts_[i]].outputs[0])) g_.erase(casts_[i]);
  }

 private:
  // A value of 16 bits in f32: as it was computed, and rounded. Either may not be there (yet).
  struct Twin {
    ValueId raw, exact;
  };

  bool half(ValueId v) const { return v && g_[v].fact.type.is_tensor() && is_half(g_[v].fact.type.elem); }

  bool eligible(const Node& n) const {
    if (n.op->is_opaque() || !n.op->domain.empty() || !n.regions.empty()) return false;
    if (std::none_of(n.inputs.begin(), n.inputs.end(), [&](ValueId v) { return half(v); })) return false;
    const auto tensors = [&](const std::vector<ValueId>& values) {
      return std::all_of(values.begin(), values.end(), [&](ValueId v) { return !v || g_[v].fact.type.is_tensor(); });
    };
    if (!tensors(n.inputs) || !tensors(n.outputs)) return false;
    // What only moves data is worth it where the data is in f32 already.
    if (is_mover(n.op->name))
      return std::any_of(n.inputs.begin(), n.inputs.end(),
                         [&](ValueId v) { return v && twins_.contains(v) && !g_.is_constant(v); });
    // Attention rounds between its steps; in bf16 that is to be seen.
    if (n.is("Attention") && std::any_of(n.inputs.begin(), n.inputs.end(),
                                         [&](ValueId v) { return half(v) && g_[v].fact.dtype() == DType::bf16; }))
      return false;
    return n.is("Softmax") ? softmax_axis(n).has_value() : computes_fast(n.op->name);
  }

  // The reference adds up short rows of bf16 in bf16; only long ones are added here.
  std::optional<int64_t> softmax_axis(const Node& n) const {
    const Fact& x = g_[n.inputs[0]].fact;
    const auto* a = n.as<op::Softmax>();
    if (!a || !x.has_rank() || a->axis < -x.rank() || a->axis >= x.rank()) return std::nullopt;
    const int64_t axis = a->axis < 0 ? a->axis + x.rank() : a->axis;
    const Dim size = x.shape()[static_cast<size_t>(axis)];
    return x.dtype() == DType::f16 || (size.is_literal() && size.literal() > 32) ? std::optional(axis) : std::nullopt;
  }

  // Softmax in 16 bits rounds at every step.
  ValueId softmax(On& on, ValueId x, int64_t axis, DType t) {
    const auto round = [&](ValueId v) { return on.cast(on.cast(v, t), DType::f32); };
    const ValueId axes = on.ints({axis}), powers = round(on.Exp(round(on.Sub(x, on.ReduceMax(x, axes)))));
    return on.Div(powers, round(on.ReduceSum(powers, axes)));
  }

  ValueId exact(ValueId v, NodeId reader) {
    ValueId& out = twins_[v].exact;
    if (out) return out;
    if (const auto small = g_.constant(v, small_count * 2))
      return out = g_.add_constant(convert(*small, DType::f32), g_[v].name);
    On on(g_, g_[reader].home, reader);
    const ValueId wide = on.cast(v, DType::f32);
    casts_.push_back(g_[wide].def);
    return twins_[v].exact = wide;
  }

  void node(NodeId n) {
    const bool through = commutes(g_[n]);
    bool rounded = true;  // the result is, because all that it is made of is
    std::vector<ValueId> inputs = g_[n].inputs;
    for (ValueId& v : inputs) {
      if (!half(v)) continue;
      const auto it = twins_.find(v);
      const ValueId raw = through && it != twins_.end() ? it->second.raw : ValueId();
      rounded = rounded && through && !raw;
      v = raw ? raw : exact(v, n);
    }
    On on(g_, g_[n].home, n);
    std::vector<ValueId> outputs;
    if (g_[n].is("Softmax")) outputs = {softmax(on, inputs[0], *softmax_axis(g_[n]), g_[g_[n].inputs[0]].fact.dtype())};
    else outputs = on.emit(def(*g_[n].op), g_[n].attrs, std::move(inputs), g_[n].outputs.size());
    g_.set_name(g_[outputs[0]].def, g_[n].name);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const ValueId old = g_[n].outputs[i];
      g_.label(outputs[i]).name = g_[old].name;
      if (!half(old)) {
        g_.replace_uses(old, outputs[i]);
        continue;
      }
      const ValueId narrow = on.cast(outputs[i], g_[old].fact.type.elem);
      casts_.push_back(g_[narrow].def);
      g_.replace_uses(old, narrow);
      twins_[narrow] = rounded ? Twin{{}, outputs[i]} : Twin{outputs[i], {}};
    }
    g_.erase(n);
  }

  Graph& g_;
  std::map<ValueId, Twin> twins_;  // of the values that are to be seen from here
  std::vector<NodeId> casts_;
};

}  // namespace

void widen_halves(Graph& g) {
  Widener w(g);
  w.region(g.main());
  w.sweep();
}

}  // namespace cameo::engine
