#include "engine/onednn/conv.h"

#include "engine/onednn/emitters.h"
#include "engine/windows.h"
#include "ops/generated/attributes.h"
#include "ops/nn/window.h"
#include "support/error.h"

namespace cameo::engine {

namespace {

// The weight's dims as oneDNN wants them: groups first.
Dims grouped(const std::vector<int64_t>& w, int64_t group) {
  Dims out = w;
  if (group == 1) return out;
  out[0] /= group;
  out.insert(out.begin(), group);
  return out;
}

}  // namespace

std::optional<ConvShape> conv_shape(const Desc& x, const Desc& w, const Desc& y, const ConvAttrs& a) {
  if (x.rank() < 3 || x.rank() > 5 || w.rank() != x.rank() || !fits_groups(x, w, a.group) || y.dims[1] != w.dims[0])
    return std::nullopt;
  const WindowAttrs attrs = window_attrs(a.auto_pad, a.strides, a.dilations, a.pads, false, x.rank() - 2);
  if (!attrs.problem.empty()) return std::nullopt;
  const Windows win = make_windows(attrs, spatial_of(x.dims), spatial_of(w.dims));
  if (!win.problem.empty() || far_from_image(win)) return std::nullopt;
  ConvShape s{x.dims, grouped(w.dims, a.group), y.dims, win.strides, {}, win.begin, {}};
  for (size_t i = 0; i < win.rank(); ++i) {
    s.dilates.push_back(win.dilations[i] - 1);
    // What the last window really reaches, which is what oneDNN wants to hear.
    s.end.push_back((win.out[i] - 1) * win.strides[i] + (win.kernel[i] - 1) * win.dilations[i] + 1 - win.in[i] -
                    win.begin[i]);
    if (win.begin[i] < 0) return std::nullopt;
  }
  return s;
}

ConvPd make_conv(const ConvShape& s, bool bias, const Md& src, const Md& weights, const Md& dst,
                 const dnnl::primitive_attr& attr) {
  const auto kind = dnnl::prop_kind::forward_inference;
  const auto algorithm = dnnl::algorithm::convolution_direct;
  if (!bias) return ConvPd({kind, algorithm, src, weights, dst, s.strides, s.dilates, s.begin, s.end}, attr, cpu());
  return ConvPd({kind, algorithm, src, weights, any_layout({s.dst[1]}), dst, s.strides, s.dilates, s.begin, s.end},
                attr, cpu());
}

SlotId conv_weights(Compiler& c, ValueId v, const ConvShape& s, const Md& wanted) {
  const Md plain = row_major(DType::f32, s.weights);
  if (c.is_constant(v)) return packed(c, v, "conv", *c.constant(v), plain, wanted);
  const SlotId from = c.view(c.plain(v), {DType::f32, s.weights, nullptr});
  if (plain == wanted) return from;
  const SlotId out = c.make(desc_with({DType::f32, s.weights, nullptr}, wanted));
  c.step({}, "reorder", reorder(plain, wanted), {from}, {out});
  return out;
}

namespace {

bool emit_with(Compiler& c, NodeId n, const ConvShape& shape, PostOps& post) {
  const Node& node = c.graph()[n];
  const ValueId bias = node.inputs.size() > 2 ? node.inputs[2] : ValueId();
  ConvPd pd;
  try {
    pd = make_conv(shape, bias.valid(), any_layout(shape.src), any_layout(shape.weights), any_layout(shape.dst),
                   post.attr());
  } catch (const dnnl::error&) {
    return false;
  }
  std::vector<SlotId> in{in_layout(c, node.inputs[0], pd.src_desc()),
                         conv_weights(c, node.inputs[1], shape, pd.weights_desc())};
  finish_weighted(c, n, post, dnnl::convolution_forward(pd), std::move(in), bias, pd.bias_desc(), pd);
  return true;
}

}  // namespace

bool emit_conv(Compiler& c, NodeId n) {
  const Node& node = c.graph()[n];
  const auto* a = node.as<op::Conv>();
  if (!a || !c.is_f32(node.inputs[0]) || !c.is_f32(node.inputs[1]) || !c.is_f32(node.outputs[0])) return false;
  const auto shape = conv_shape(*c.desc(node.inputs[0]), *c.desc(node.inputs[1]), *c.desc(node.outputs[0]),
                                {a->auto_pad, a->strides, a->dilations, a->pads, a->group});
  if (!shape || !is_bias(c, c.graph().input(n, 2), shape->dst[1])) return false;
  PostOps post(c, n, node.outputs[0]), none(c, n, node.outputs[0]);
  post.fuse_following();
  if (emit_conv_in_strips(c, n, *shape, post)) return true;
  return emit_with(c, n, *shape, post) || (!post.empty() && emit_with(c, n, *shape, none));
}

}  // namespace cameo::engine
