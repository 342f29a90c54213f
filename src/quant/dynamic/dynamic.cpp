#include "quant/dynamic/dynamic.h"

#include <algorithm>
#include <map>

#include "ir/node_name.h"
#include "kernels/carrier.h"
#include "ops/infer.h"
#include "ops/on.h"
#include "ops/soundness.h"
#include "quant/dynamic/lstm.h"
#include "quant/insert/weights.h"
#include "quant/weights/rewrite.h"
#include "runtime/watch.h"
#include "support/budget.h"
#include "support/error.h"

namespace cameo::quant {

namespace {

constexpr Grid weight_grid{8, true, true};

struct RoundedData {
  ValueId levels, scale, zero;
};

class DynamicQuantizer {
 public:
  DynamicQuantizer(Model& m, const DynamicOptions& o) : m_(m), g_(m.graph), o_(o) {}

  std::vector<DynamicRow> run() {
    ops::admit(m_);
    collect(g_.main());
    check_names();
    for (const NodeId n : nodes_) {
      support::checkpoint();
      DynamicRow& row = rows_.emplace_back();
      row.name = node_name(g_, n);
      row.op = g_[n].op->name;
      row.why = quantize(n);
      row.quantized = row.why.empty();
    }
    const bool any = std::any_of(rows_.begin(), rows_.end(), [](const DynamicRow& row) { return row.quantized; });
    if (!any && !o_.keep.empty())
      throw error("quantize.nothing", "no node of the model is left to quantize")
          .help("only products with constant f32 weights are quantized: Conv, Gemm, MatMul, LSTM");
    if (any && o_.microsoft) m_.opsets.emplace("com.microsoft", 1);
    infer(g_);
    return std::move(rows_);
  }

 private:
  void collect(RegionId r) {
    for (const NodeId n : g_.nodes(r)) {
      for (const RegionId body : g_[n].regions)
        if (body) collect(body);
      for (const std::string_view op : {"Conv", "Gemm", "MatMul", "LSTM", "GRU"})
        if (g_[n].is(op) && is_sound(n) && (!o_.only || o_.only(n))) nodes_.push_back(n);
    }
  }

  // One in a branch that is never taken may lack what its rule demands.
  bool is_sound(NodeId n) const { return !g_[n].outputs.empty() && ops::has_operands(g_[n]) && !ops::fault_of(g_, n); }

  bool is_kept(NodeId n, const std::string& pattern) const {
    return g_[n].op->name == pattern || runtime::matches(g_, n, pattern);
  }
  void check_names() const {
    for (const std::string& pattern : o_.keep)
      if (std::none_of(nodes_.begin(), nodes_.end(), [&](NodeId n) { return is_kept(n, pattern); }))
        throw error("use.node-name", cat("no node that could be quantized is called '", pattern, "'"));
  }

  // Why it stays float; empty where it was replaced.
  std::string quantize(NodeId n) {
    for (const std::string& pattern : o_.keep)
      if (is_kept(n, pattern)) return "kept as asked";
    if (g_[n].is("GRU")) return "neither ONNX nor onnxruntime has an 8-bit form of GRU";
    if (g_[n].is("LSTM"))
      return o_.microsoft ? put_dynamic_lstm(g_, n, o_.per_channel) : "ONNX has no 8-bit form of LSTM";
    const auto p = product_of(g_, n);
    if (!p || !g_.is_constant(p->weight)) return "its weights are not constant f32";
    if (const auto* gemm = g_[n].as<op::Gemm>(); gemm && (gemm->transA || gemm->alpha != 1 || gemm->beta != 1))
      return "it has factors or a transposed operand";
    put(*p);
    return "";
  }

  // Data that bodies share is rounded where it is made.
  const RoundedData& rounded(ValueId x) {
    if (const auto it = rounded_.find(x); it != rounded_.end()) return it->second;
    const NodeId before = g_[x].def ? g_[g_[x].def].next : g_[g_[x].home].first;
    On on(g_, g_[x].home, before);
    const auto made = on.DynamicQuantizeLinear(x, 3);
    return rounded_.emplace(x, RoundedData{made[0], made[1], made[2]}).first->second;
  }

  struct Stored {
    ValueId levels, scales;
  };
  // `swap`: the weight of a Gemm that is read transposed.
  Stored store_weight(const Product& p, bool swap, std::vector<int64_t> scale_shape) {
    const auto known = stored_.find({p.weight, swap});
    if (known != stored_.end()) return known->second;
    const Tensor w = *g_.constant(p.weight);
    const QuantizedWeight q = quantize_weight(p, Loaded<float>(w).span(), weight_grid, o_.per_channel, nullptr);
    Tensor levels(DType::i8, w.shape(), q.levels);
    if (swap) {
      const std::vector<int64_t> order{1, 0};
      levels = Weight::of(levels).permuted(order).dense();
    }
    if (!o_.per_channel) scale_shape.clear();
    const std::string name = g_[p.weight].name;  // values move when there are more
    const auto named = [&](const char* suffix) { return name.empty() ? "" : cat(name, suffix); };
    const Stored out{g_.add_constant(levels, named("_quantized")),
                     g_.add_constant(Tensor::of<float>(DType::f32, std::move(scale_shape), q.scales), named("_scale"))};
    return stored_.emplace(std::pair(p.weight, swap), out).first->second;
  }

  void put(const Product& p) {
    const NodeId n = p.node;
    const ValueId out = g_[n].outputs[0], weight = p.weight, bias = p.bias;
    const RoundedData x = rounded(p.data);
    On on(g_, g_[n].home, n);
    const ValueId made = g_[n].is("Conv") ? convolution(on, p, x) : product(on, p, x);
    ValueId result = made;
    if (bias) result = on.Add(made, g_[n].is("Conv") ? spread(on, bias, p) : bias);
    take_over(g_, out, result);
    g_.erase(n);
    drop_unused(g_, weight);
  }

  ValueId product(On& on, const Product& p, const RoundedData& x) {
    const auto* gemm = g_[p.node].as<op::Gemm>();
    const Stored w = store_weight(p, gemm && gemm->transB, {p.channels()});
    if (o_.microsoft && p.shape.size() == 2) {
      const NodeId n = microsoft_node(g_, g_[p.node].home, "MatMulIntegerToFloat", {},
                                      {x.levels, w.levels, x.scale, w.scales, x.zero}, 1, p.node);
      g_.fact(g_[n].outputs[0]) = g_[g_[p.node].outputs[0]].fact;
      return g_[n].outputs[0];
    }
    return scaled(on, on.MatMulInteger(x.levels, w.levels, x.zero), x, w);
  }

  ValueId convolution(On& on, const Product& p, const RoundedData& x) {
    const op::Conv& conv = *g_[p.node].as<op::Conv>();
    std::vector<int64_t> shape(p.shape.size() - 1, 1);
    shape[0] = p.channels();
    const Stored w = store_weight(p, false, shape);
    op::ConvInteger a;
    a.auto_pad = conv.auto_pad, a.dilations = conv.dilations, a.group = conv.group;
    a.kernel_shape = conv.kernel_shape, a.pads = conv.pads, a.strides = conv.strides;
    return scaled(on, on.ConvInteger(x.levels, w.levels, x.zero, {}, a), x, w);
  }

  static ValueId scaled(On& on, ValueId sums, const RoundedData& x, const Stored& w) {
    return on.Mul(on.cast(sums, DType::f32), on.Mul(x.scale, w.scales));
  }

  // The bias of a convolution along the axis of its channels.
  ValueId spread(On& on, ValueId bias, const Product& p) {
    std::vector<int64_t> shape(p.shape.size() - 1, 1);
    shape[0] = p.channels();
    if (g_.is_constant(bias)) return on.constant(g_.constant(bias)->reshaped(shape));
    return on.Reshape(bias, on.ints(shape));
  }

  Model& m_;
  Graph& g_;
  const DynamicOptions& o_;
  std::vector<NodeId> nodes_;
  std::vector<DynamicRow> rows_;
  std::map<ValueId, RoundedData> rounded_;
  std::map<std::pair<ValueId, bool>, Stored> stored_;
};

}  // namespace

std::vector<DynamicRow> quantize_dynamic(Model& m, const DynamicOptions& options) {
  return DynamicQuantizer(m, options).run();
}

}  // namespace cameo::quant
