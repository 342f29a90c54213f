#include <atomic>
#include <limits>

#include "engine/emit.h"
#include "engine/onednn/emitters.h"
#include "engine/parallel.h"
#include "engine/windows.h"
#include "ops/generated/attributes.h"
#include "ops/nn/window.h"

namespace cameo::engine {

namespace {

constexpr int64_t grain = 1 << 15;  // floats that a thread looks at before another is worth its start

bool is_nan_bits(uint32_t bits) { return (bits & 0x7fffffff) > 0x7f800000; }

bool any_nan(const uint32_t* bits, int64_t count) {
  std::atomic<bool> found = false;
  parallel(count, grain, [&](int64_t first, int64_t last) {
    uint32_t nan = 0;
    for (int64_t i = first; i < last; ++i) nan |= is_nan_bits(bits[i]);
    if (nan) found.store(true, std::memory_order_relaxed);
  });
  return found;
}

// oneDNN's largest element of a window passes over NaN; ONNX's and PyTorch's is NaN. Where the operand holds one, its
// places are pooled like an image of their own: layouts and padding are the same.
class MaxPoolKernel : public PrimitiveKernel {
 public:
  MaxPoolKernel(const dnnl::primitive& primitive, const Md& src, const Md& dst, const Md& scratchpad, std::string about)
      : PrimitiveKernel(primitive, {{DNNL_ARG_SRC, src, 0, false}, {DNNL_ARG_DST, dst, 0, true}}, scratchpad,
                        std::move(about)),
        in_(static_cast<int64_t>(src.get_size() / sizeof(float))),
        out_(static_cast<int64_t>(dst.get_size() / sizeof(float))) {}

  void run(const Buffers& b) const override {
    PrimitiveKernel::run(b);
    const auto* x = b.input<uint32_t>(0);
    if (!any_nan(x, in_)) return;
    std::vector<float> places(static_cast<size_t>(in_)), reached(static_cast<size_t>(out_));
    for (int64_t i = 0; i < in_; ++i) places[static_cast<size_t>(i)] = is_nan_bits(x[i]) ? 1 : 0;
    std::byte *in[] = {reinterpret_cast<std::byte*>(places.data())},
              *out[] = {reinterpret_cast<std::byte*>(reached.data())};
    PrimitiveKernel::run({in, out, b.scratch, b.state});
    auto* y = b.output<float>(0);
    for (int64_t i = 0; i < out_; ++i)
      if (reached[static_cast<size_t>(i)] > 0) y[i] = std::numeric_limits<float>::quiet_NaN();
  }

 private:
  int64_t in_, out_;  // floats, with what pads blocked layouts
};

bool emit_pooling(Compiler& c, NodeId n, const Windows& w, dnnl::algorithm algorithm) {
  const Node& node = c.graph()[n];
  if (far_from_image(w)) return false;
  Dims end, dilates;
  for (size_t i = 0; i < w.rank(); ++i) {
    end.push_back((w.out[i] - 1) * w.strides[i] + (w.kernel[i] - 1) * w.dilations[i] + 1 - w.in[i] - w.begin[i]);
    dilates.push_back(w.dilations[i] - 1);
    const int64_t covered = (w.kernel[i] - 1) * w.dilations[i] + 1;
    if (w.begin[i] < 0 || w.begin[i] >= covered || end.back() >= covered) return false;  // windows that see nothing
  }
  Desc src = c.slot_desc(c.slot(node.inputs[0]));
  if (src.dtype != DType::f32) {  // it has kernels for bytes only where channels lie together
    if (src.rank() != 4) return false;
    src = dense_desc(src.dtype, src.dims, {0, 2, 3, 1});
  }
  try {
    using Pool = dnnl::pooling_v2_forward;
    dnnl::primitive_attr attr;
    attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const Pool::primitive_desc pd(
        {dnnl::prop_kind::forward_inference, algorithm, md_of(src),
         any_layout(c.desc(node.outputs[0])->dims, src.dtype), w.strides, w.kernel, dilates, w.begin, end},
        attr, cpu());
    PostOps none(c, n, node.outputs[0]);
    const SlotId in = src.dtype == DType::f32 ? c.slot(node.inputs[0]) : c.in_form(node.inputs[0], src);
    if (algorithm == dnnl::algorithm::pooling_max && src.dtype == DType::f32) {
      finish_step(c, n, none,
                  std::make_unique<MaxPoolKernel>(Pool(pd), pd.src_desc(), pd.dst_desc(), pd.scratchpad_desc(),
                                                  pd.impl_info_str()),
                  {in}, pd.dst_desc());
      return true;
    }
    finish(c, n, none, Pool(pd), {{DNNL_ARG_SRC, pd.src_desc(), 0, false}, {DNNL_ARG_DST, pd.dst_desc(), 0, true}},
           {in}, pd);
    return true;
  } catch (const dnnl::error&) {
    return false;
  }
}

bool poolable(Compiler& c, const Node& node) {
  const Desc &x = *c.desc(node.inputs[0]), &y = *c.desc(node.outputs[0]);
  const bool bytes = node.is("MaxPool") && (x.dtype == DType::u8 || x.dtype == DType::i8) && y.count() > 0;
  return node.outputs.size() == 1 && (bytes || (c.is_f32(node.inputs[0]) && c.is_f32(node.outputs[0]))) &&
         c.desc(node.inputs[0])->rank() >= 3 && c.desc(node.inputs[0])->rank() <= 5;
}

template <class A>
Windows windows_of(const A& a, const Desc& x) {
  const WindowAttrs attrs = window_attrs(a.auto_pad, a.strides, a.dilations, a.pads, a.ceil_mode != 0, x.rank() - 2);
  Windows w;
  w.problem = attrs.problem;
  return attrs.problem.empty() ? make_windows(attrs, spatial_of(x.dims), a.kernel_shape) : w;
}

}  // namespace

bool emit_pool(Compiler& c, NodeId n) {
  const Node& node = c.graph()[n];
  if (!poolable(c, node)) return false;
  const Desc& x = *c.desc(node.inputs[0]);
  if (const auto* a = node.as<op::MaxPool>()) {
    const Windows w = windows_of(*a, x);
    return w.problem.empty() && emit_pooling(c, n, w, dnnl::algorithm::pooling_max);
  }
  const auto* a = node.as<op::AveragePool>();
  if (!a || (a->count_include_pad && a->ceil_mode)) return false;
  const Windows w = windows_of(*a, x);
  return w.problem.empty() && emit_pooling(c, n, w,
                                           a->count_include_pad ? dnnl::algorithm::pooling_avg_include_padding
                                                                : dnnl::algorithm::pooling_avg_exclude_padding);
}

bool emit_global_pool(Compiler& c, NodeId n) {
  const Node& node = c.graph()[n];
  if (!poolable(c, node)) return false;
  const auto in = spatial_of(c.desc(node.inputs[0])->dims);
  const std::vector<int64_t> one(in.size(), 1), zero(in.size(), 0);
  Windows w;
  w.in = w.kernel = in;
  w.out = w.strides = w.dilations = one;
  w.begin = w.end = zero;
  return emit_pooling(
      c, n, w, node.is("GlobalMaxPool") ? dnnl::algorithm::pooling_max : dnnl::algorithm::pooling_avg_exclude_padding);
}

}  // namespace cameo::engine
