#include "engine/onednn/emitters.h"
#include "ops/generated/attributes.h"
#include "ops/nn/window.h"

namespace cameo::engine {

namespace {

struct Shape4 {
  Dims weights, stored;  // sizes and strides of the stored [in, out / group, ...] as oneDNN's [group, out, in, ...]
  Dims strides, dilates, begin, end;
};

std::optional<Shape4> shape_of(const op::ConvTranspose& a, const Desc& x, const Desc& w, const Desc& y) {
  const size_t n = x.rank() - 2;
  const WindowAttrs attrs = window_attrs(a.auto_pad, a.strides, a.dilations, a.pads, false, n);
  if (!attrs.problem.empty() || attrs.auto_pad != "NOTSET" || a.output_shape) return std::nullopt;
  Shape4 s;
  int64_t taps = 1;
  for (size_t i = 0; i < n; ++i) taps *= w.dims[i + 2];
  const int64_t out = w.dims[1], in = w.dims[0] / a.group;
  if (a.group > 1) s.weights.push_back(a.group), s.stored.push_back(in * out * taps);
  s.weights.insert(s.weights.end(), {out, in});
  s.stored.insert(s.stored.end(), {taps, out * taps});
  for (size_t i = 0; i < n; ++i) {
    taps /= w.dims[i + 2];
    s.weights.push_back(w.dims[i + 2]);
    s.stored.push_back(taps);
    const int64_t covered = (w.dims[i + 2] - 1) * attrs.dilations[i] + 1;
    s.strides.push_back(attrs.strides[i]);
    s.dilates.push_back(attrs.dilations[i] - 1);
    s.begin.push_back(attrs.pads[i]);
    s.end.push_back((x.dims[i + 2] - 1) * attrs.strides[i] + covered - attrs.pads[i] - y.dims[i + 2]);
  }
  return s;
}

bool emit_with(Compiler& c, NodeId n, const Shape4& s, PostOps& post) {
  const Node& node = c.graph()[n];
  using Deconv = dnnl::deconvolution_forward;
  const ValueId bias = node.inputs.size() > 2 ? node.inputs[2] : ValueId();
  const Desc &x = *c.desc(node.inputs[0]), &y = *c.desc(node.outputs[0]);
  const auto kind = dnnl::prop_kind::forward_inference;
  const auto algorithm = dnnl::algorithm::deconvolution_direct;
  Deconv::primitive_desc pd;
  try {
    const Md src = any_layout(x.dims), weights = any_layout(s.weights), dst = any_layout(y.dims);
    pd = bias ? Deconv::primitive_desc(
                    {kind, algorithm, src, weights, any_layout({y.dims[1]}), dst, s.strides, s.dilates, s.begin, s.end},
                    post.attr(), cpu())
              : Deconv::primitive_desc({kind, algorithm, src, weights, dst, s.strides, s.dilates, s.begin, s.end},
                                       post.attr(), cpu());
  } catch (const dnnl::error&) {
    return false;
  }
  const Md stored(s.weights, dnnl::memory::data_type::f32, s.stored);
  std::vector<SlotId> in{
      in_layout(c, node.inputs[0], pd.src_desc()),
      packed(c, node.inputs[1], "transposed", *c.constant(node.inputs[1]), stored, pd.weights_desc())};
  finish_weighted(c, n, post, Deconv(pd), std::move(in), bias, pd.bias_desc(), pd);
  return true;
}

}  // namespace

bool emit_conv_transpose(Compiler& c, NodeId n) {
  const Node& node = c.graph()[n];
  const auto* a = node.as<op::ConvTranspose>();
  if (!a || !c.is_f32(node.inputs[0]) || !c.is_f32(node.inputs[1]) || !c.is_constant(node.inputs[1]) ||
      !c.is_f32(node.outputs[0]))
    return false;
  const Desc& x = *c.desc(node.inputs[0]);
  const Desc &w = *c.desc(node.inputs[1]), &y = *c.desc(node.outputs[0]);
  if (x.rank() < 3 || x.rank() > 5 || w.rank() != x.rank() || a->group < 1 || w.dims[0] != x.dims[1] ||
      w.dims[0] % a->group != 0)
    return false;
  if (y.dims[1] != w.dims[1] * a->group || !is_bias(c, c.graph().input(n, 2), y.dims[1])) return false;
  const auto s = shape_of(*a, x, *c.desc(node.inputs[1]), *c.desc(node.outputs[0]));
  if (!s) return false;
  PostOps post(c, n, node.outputs[0]), none(c, n, node.outputs[0]);
  post.fuse_following();
  return emit_with(c, n, *s, post) || (!post.empty() && emit_with(c, n, *s, none));
}

}  // namespace cameo::engine
