// LSTM and GRU over whole sequences.
#include <algorithm>

#include "engine/onednn/emitters.h"
#include "engine/simd/copy.h"
#include "kernels/carrier.h"
#include "ops/generated/attributes.h"
#include "support/error.h"

namespace cameo::engine {

namespace {

struct Layer {
  int64_t times, batch, inputs, hidden, directions, gates;
  dnnl::rnn_direction direction;
  std::vector<size_t> order;  // ONNX's gates in oneDNN's order
};

template <class A>
bool usual(const A& a) {
  return !a.activation_alpha && !a.activation_beta && !a.activations && !a.clip && a.layout == 0;
}

// Weights, biases, states and results as long as the layer's sizes ask for: they are packed and read by those.
bool fits(Compiler& c, const Node& node, const Layer& l) {
  const int64_t rows = l.gates * l.hidden;
  const std::vector<int64_t> state{l.directions, l.batch, l.hidden};
  const std::vector<int64_t> inputs[] = {{l.times, l.batch, l.inputs},
                                         {l.directions, rows, l.inputs},
                                         {l.directions, rows, l.hidden},
                                         {l.directions, 2 * rows},
                                         {},
                                         state,
                                         state};
  const std::vector<int64_t> outputs[] = {{l.times, l.directions, l.batch, l.hidden}, state, state};
  const auto all = [&](const std::vector<ValueId>& values, std::span<const std::vector<int64_t>> dims) {
    if (values.size() > dims.size()) return false;
    for (size_t i = 0; i < values.size(); ++i)
      if (values[i] && c.desc(values[i])->dims != dims[i]) return false;
    return true;
  };
  return all(node.inputs, inputs) && all(node.outputs, outputs);
}

std::optional<Layer> layer_of(Compiler& c, const Node& node, const std::string& direction, std::vector<size_t> order) {
  const Desc &x = *c.desc(node.inputs[0]), &r = *c.desc(node.inputs[2]);
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (node.inputs[i] && (i == 4 || !c.is_f32(node.inputs[i]))) return std::nullopt;  // sequences of several lengths
  for (size_t i = 1; i < 4 && i < node.inputs.size(); ++i)
    if (node.inputs[i] && !c.is_constant(node.inputs[i])) return std::nullopt;
  if (x.rank() != 3 || r.rank() != 3) return std::nullopt;
  Layer l{x.dims[0],
          x.dims[1],
          x.dims[2],
          r.dims[2],
          r.dims[0],
          static_cast<int64_t>(order.size()),
          dnnl::rnn_direction::unidirectional_left2right,
          std::move(order)};
  if (direction == "reverse") l.direction = dnnl::rnn_direction::unidirectional_right2left;
  else if (direction == "bidirectional") l.direction = dnnl::rnn_direction::bidirectional_concat;
  else if (direction != "forward") return std::nullopt;
  return l.directions == (direction == "bidirectional" ? 2 : 1) && fits(c, node, l) ? std::optional(std::move(l))
                                                                                    : std::nullopt;
}

// [directions, gates * hidden, width], gates in another order.
Tensor reordered(const Tensor& w, const Layer& l, int64_t width) {
  const Loaded<float> from(w);
  std::vector<float> out;
  out.reserve(static_cast<size_t>(from.size()));
  for (int64_t d = 0; d < l.directions; ++d)
    for (const size_t g : l.order) {
      const auto at = static_cast<size_t>((d * l.gates + static_cast<int64_t>(g)) * l.hidden * width);
      const auto part = from.span().subspan(at, static_cast<size_t>(l.hidden * width));
      out.insert(out.end(), part.begin(), part.end());
    }
  return Tensor::of<float>(DType::f32, w.shape(), out);
}

// Both biases as one; with `separate`, the last gate's recurrent bias follows as a gate of its own.
Tensor joined_bias(Compiler& c, ValueId v, const Layer& l, bool separate) {
  const int64_t gates = l.gates + (separate ? 1 : 0);
  std::vector<float> out(static_cast<size_t>(l.directions * gates * l.hidden), 0.0f);
  if (v) {
    const Loaded<float> b(*c.constant(v));
    for (int64_t d = 0; d < l.directions; ++d)
      for (int64_t g = 0; g < gates; ++g)
        for (int64_t h = 0; h < l.hidden; ++h) {
          const int64_t from = g < l.gates ? static_cast<int64_t>(l.order[static_cast<size_t>(g)]) : l.gates - 1;
          const int64_t base = d * 2 * l.gates * l.hidden + from * l.hidden + h, recurrent = base + l.gates * l.hidden;
          float& to = out[static_cast<size_t>((d * gates + g) * l.hidden + h)];
          const bool last = separate && from == l.gates - 1;
          to = g == l.gates ? b[recurrent] : last ? b[base] : b[base] + b[recurrent];
        }
  }
  return Tensor::of<float>(DType::f32, {l.directions * gates * l.hidden}, out);
}

class SwapKernel : public Kernel {  // [time, batch, direction, hidden] to [time, direction, batch, hidden]
 public:
  explicit SwapKernel(const Layer& l) {
    const int64_t t = l.times, b = l.batch, d = l.directions, h = l.hidden;
    copy_ = {{t, d, b, h}, {b * d * h, h, d * h, 1}, {d * b * h, b * h, h, 1}};
    copy_.simplify();
  }
  void run(const Buffers& b) const override { copy_.run(sizeof(float), b.in[0], b.out[0]); }
  std::string about() const override { return "copy"; }
  Extents extents() const override { return {{copy_.reads() * sizeof(float)}, {copy_.writes() * sizeof(float)}}; }

 private:
  StridedCopy copy_;
};

// What both kinds share: descriptors, packed weights, outputs.
struct Parts {
  Layer l;
  Md src, layer, iter, bias, state, dst, given;
};
Parts parts_of(const Node& node, const Layer& l, int64_t bias_gates) {
  using Tag = dnnl::memory::format_tag;
  const auto f32 = dnnl::memory::data_type::f32;
  Parts p;
  p.l = l;
  p.src = Md({l.times, l.batch, l.inputs}, f32, Tag::tnc);
  p.layer = Md({1, l.directions, l.inputs, l.gates, l.hidden}, f32, Tag::any);
  p.iter = Md({1, l.directions, l.hidden, l.gates, l.hidden}, f32, Tag::any);
  p.bias = Md({1, l.directions, bias_gates, l.hidden}, f32, Tag::ldgo);
  p.state = Md({1, l.directions, l.batch, l.hidden}, f32, Tag::ldnc);
  p.dst = Md({l.times, l.batch, l.directions * l.hidden}, f32, Tag::tnc);
  p.given = node.inputs.size() > 5 && node.inputs[5] ? p.state : Md();
  return p;
}

template <class Pd>
void emit_layer(Compiler& c, NodeId n, const Parts& p, const Pd& pd, dnnl::primitive primitive, bool separate,
                bool cells) {
  const Node& node = c.graph()[n];
  const Layer& l = p.l;
  using Tag = dnnl::memory::format_tag;
  const auto f32 = dnnl::memory::data_type::f32;
  const Md plain_layer({1, l.directions, l.inputs, l.gates, l.hidden}, f32, Tag::ldgoi),
      plain_iter({1, l.directions, l.hidden, l.gates, l.hidden}, f32, Tag::ldgoi);
  const SlotId layer = packed(c, node.inputs[1], "rnn", reordered(*c.constant(node.inputs[1]), l, l.inputs),
                              plain_layer, pd.weights_layer_desc());
  const SlotId iter = packed(c, node.inputs[2], "rnn", reordered(*c.constant(node.inputs[2]), l, l.hidden), plain_iter,
                             pd.weights_iter_desc());
  const Tensor bias = joined_bias(c, node.inputs.size() > 3 ? node.inputs[3] : ValueId(), l, separate);
  std::vector<SlotId> in{c.plain(node.inputs[0]), layer, iter,
                         c.add_constant(bias, {DType::f32, bias.shape(), nullptr})};
  std::vector<PrimitiveKernel::Arg> args{{DNNL_ARG_SRC_LAYER, pd.src_layer_desc(), 0, false},
                                         {DNNL_ARG_WEIGHTS_LAYER, pd.weights_layer_desc(), 1, false},
                                         {DNNL_ARG_WEIGHTS_ITER, pd.weights_iter_desc(), 2, false},
                                         {DNNL_ARG_BIAS, p.bias, 3, false}};
  const auto given = [&](size_t input, int name) {
    if (node.inputs.size() <= input || !node.inputs[input]) return;
    args.push_back({name, p.state, in.size(), false});
    in.push_back(c.plain(node.inputs[input]));
  };
  given(5, DNNL_ARG_SRC_ITER);
  if (cells) given(6, DNNL_ARG_SRC_ITER_C);
  std::vector<SlotId> out;
  const auto result = [&](size_t output, int name, const Md& md) {
    const bool there = output < node.outputs.size();
    const Desc state{DType::f32, {l.directions, l.batch, l.hidden}, nullptr},
        whole{DType::f32, {l.times, l.batch, l.directions, l.hidden}, nullptr};
    const SlotId s = c.make(output == 0 ? whole : state);
    args.push_back({name, md, out.size(), true});
    out.push_back(s);
    if (!there) return;
    const SlotId bound =
        output == 0 && l.directions == 2 ? c.make(*c.desc(node.outputs[0])) : c.view(s, *c.desc(node.outputs[output]));
    c.bind(node.outputs[output], bound);
  };
  result(0, DNNL_ARG_DST_LAYER, pd.dst_layer_desc());
  result(1, DNNL_ARG_DST_ITER, p.state);
  if (cells) result(2, DNNL_ARG_DST_ITER_C, p.state);
  const SlotId whole = out[0];
  c.step(n, std::string(node.op->name),
         std::make_unique<PrimitiveKernel>(std::move(primitive), std::move(args), pd.scratchpad_desc(),
                                           pd.impl_info_str()),
         std::move(in), std::move(out));
  if (l.directions == 2) c.step(n, "Transpose", std::make_unique<SwapKernel>(l), {whole}, {c.slot(node.outputs[0])});
}

dnnl::primitive_attr scratch_attr() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

}  // namespace

bool emit_lstm(Compiler& c, NodeId n) {
  const Node& node = c.graph()[n];
  const auto* a = node.as<op::LSTM>();
  if (!a || !usual(*a) || a->input_forget || (node.inputs.size() > 7 && node.inputs[7])) return false;
  if ((node.inputs.size() > 5 && node.inputs[5]) != (node.inputs.size() > 6 && node.inputs[6])) return false;
  const auto l = layer_of(c, node, a->direction, {0, 2, 3, 1});
  if (!l) return false;
  if (l->batch <= 4 && emit_lstm_rows(c, n, a->direction == "reverse")) return true;
  try {
    const Parts p = parts_of(node, *l, 4);
    const dnnl::lstm_forward::desc d(dnnl::prop_kind::forward_inference, l->direction, p.src, p.given, p.given, p.layer,
                                     p.iter, p.bias, p.dst, p.state, p.state);
    const dnnl::lstm_forward::primitive_desc pd(d, scratch_attr(), cpu());
    emit_layer(c, n, p, pd, dnnl::lstm_forward(pd), false, true);
    return true;
  } catch (const dnnl::error&) {
    return false;
  }
}

bool emit_gru(Compiler& c, NodeId n) {
  const Node& node = c.graph()[n];
  const auto* a = node.as<op::GRU>();
  if (!a || !usual(*a)) return false;
  const auto l = layer_of(c, node, a->direction, {0, 1, 2});
  if (!l) return false;
  try {
    const Parts p = parts_of(node, *l, a->linear_before_reset ? 4 : 3);
    const auto kind = dnnl::prop_kind::forward_inference;
    if (a->linear_before_reset) {
      const dnnl::lbr_gru_forward::primitive_desc pd(
          {kind, l->direction, p.src, p.given, p.layer, p.iter, p.bias, p.dst, p.state}, scratch_attr(), cpu());
      emit_layer(c, n, p, pd, dnnl::lbr_gru_forward(pd), true, false);
    } else {
      const dnnl::gru_forward::primitive_desc pd(
          {kind, l->direction, p.src, p.given, p.layer, p.iter, p.bias, p.dst, p.state}, scratch_attr(), cpu());
      emit_layer(c, n, p, pd, dnnl::gru_forward(pd), false, false);
    }
    return true;
  } catch (const dnnl::error&) {
    return false;
  }
}

}  // namespace cameo::engine
