// A convolution and Swish in strips: a few rows of the image are convolved and, while they lie in cache, given to our
// own Swish, which takes a third of the time of oneDNN's. Each thread has strips of its own.
#include "engine/onednn/conv_strips.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <map>

#include "engine/onednn/emitters.h"
#include "engine/onednn/strip_calls.h"
#include "engine/parallel.h"
#include "engine/simd/swish.h"
#include "support/error.h"

namespace cameo::engine {

namespace {

constexpr int64_t strip_elements = 24 * 1024;  // of the output: small enough for the second level of cache

// Rows of the output, and what they need of the input.
struct Rows {
  int64_t out_first = 0, out_count = 0, in_first = 0, in_count = 0;
  int64_t above = 0, below = 0;  // rows of padding
};

Rows rows_of(const ConvShape& s, int64_t first, int64_t count) {
  const int64_t height = s.src[2], taps = s.weights[s.weights.size() - 2];
  const int64_t from = first * s.strides[0] - s.begin[0],
                to = (first + count - 1) * s.strides[0] + (taps - 1) * (s.dilates[0] + 1) + 1 - s.begin[0];
  const int64_t above = std::max<int64_t>(0, -from), below = std::max<int64_t>(0, to - height);
  return {first, count, from + above, to - below - (from + above), above, below};
}

ConvShape strip_shape(const ConvShape& s, const Rows& r) {
  ConvShape out = s;
  out.src[0] = out.dst[0] = 1;
  out.src[2] = r.in_count, out.dst[2] = r.out_count;
  out.begin[0] = r.above, out.end[0] = r.below;
  return out;
}

std::vector<Rows> all_rows(const ConvShape& s, int64_t threads) {
  const int64_t height = s.dst[2], row = s.dst[1] * s.dst[3];
  const int64_t wanted = (height * row + strip_elements - 1) / strip_elements, images = s.dst[0];
  const int64_t share = threads / std::gcd(threads, images);
  const int64_t count = std::min(height, (wanted + share - 1) / share * share);
  const int64_t each = (height + count - 1) / count;  // all alike but the last: every kind of strip costs start-up
  std::vector<Rows> out;
  for (int64_t first = 0; first < height; first += each)
    out.push_back(rows_of(s, first, std::min(each, height - first)));
  return out;
}

}  // namespace

Md channels_last(const Dims& d, DType t) {
  Md out = row_major(t, d);
  return Md(d, static_cast<dnnl::memory::data_type>(out.data.data_type), dnnl::memory::format_tag::nhwc);
}

bool cut_into_strips(const ConvShape& s, int64_t threads, const std::function<bool(const ConvShape& part)>& make,
                     std::vector<Strip>& strips) {
  const ThreadScope alone(1);
  const std::vector<Rows> rows = all_rows(s, threads);
  const int64_t in_row = s.src[1] * s.src[3], out_row = s.dst[1] * s.dst[3];
  std::map<std::array<int64_t, 4>, size_t> kinds;
  try {
    for (int64_t image = 0; image < s.dst[0]; ++image)
      for (const Rows& r : rows) {
        if (r.in_count <= 0) return false;
        const auto [it, fresh] = kinds.try_emplace({r.out_count, r.in_count, r.above, r.below}, kinds.size());
        if (fresh && !make(strip_shape(s, r))) return false;
        strips.push_back({it->second, (image * s.src[2] + r.in_first) * in_row,
                          (image * s.dst[2] + r.out_first) * out_row, r.out_count * out_row});
      }
    return true;
  } catch (const dnnl::error&) {
    return false;
  }
}

namespace {

class StripKernel : public Kernel {
 public:
  StripKernel(const std::vector<ConvPd>& pds, std::vector<Strip> strips, bool bias, float alpha, int threads)
      : calls_(threads), strips_(std::move(strips)), bias_(bias), alpha_(alpha) {
    for (const ConvPd& pd : pds) {
      calls_.add(pd, bias ? std::optional(std::pair(DNNL_ARG_BIAS, pd.bias_desc())) : std::nullopt);
      each_ = std::max<uint64_t>(each_, (pd.scratchpad_desc().get_size() + 63) / 64 * 64);
    }
    scratch_bytes = each_ * static_cast<uint64_t>(threads);
  }
  std::string about() const override { return calls_.about(); }
  std::shared_ptr<void> make_state() const override { return calls_.make_state(); }
  Extents extents() const override;
  void run(const Buffers& b) const override;

 private:
  StripCalls calls_;
  std::vector<Strip> strips_;
  bool bias_;
  float alpha_;
  uint64_t each_ = 0;  // bytes of scratch of one thread
};

Extents StripKernel::extents() const {
  Extents e{{0, calls_.pd(0).weights_desc().get_size()}, {0}};
  for (const Strip& s : strips_) {
    const ConvPd& pd = calls_.pd(s.kind);
    e.in[0] = std::max(e.in[0], floats(s.in) + pd.src_desc().get_size());
    e.out[0] = std::max({e.out[0], floats(s.out) + pd.dst_desc().get_size(), floats(s.out + s.count)});
  }
  if (bias_) e.in.push_back(calls_.pd(0).bias_desc().get_size());
  return e;
}

void StripKernel::run(const Buffers& b) const {
  calls_.each(strips_.size(), [&](size_t strip, int64_t thread) {
    const Strip& s = strips_[strip];
    float* out = b.output<float>(0) + s.out;
    calls_.call(b.state, s.kind, thread,
                {reinterpret_cast<float*>(b.in[0]) + s.in, b.in[1], out,
                 b.scratch + static_cast<size_t>(thread) * each_, bias_ ? b.in[2] : nullptr});
    fast_swish(out, out, s.count, alpha_);
  });
}

// False where oneDNN would not compute the strips as it does the whole.
bool make_primitives(const ConvShape& s, bool bias, const PostOps& post, int threads, std::vector<ConvPd>& pds,
                     std::vector<Strip>& strips) {
  const dnnl::primitive_attr& attr = post.attr_before_swish();
  std::string whole;
  const auto alike = [&](const ConvPd& pd) { return pd.impl_info_str() == whole; };
  try {
    const ThreadScope alone(1);
    const ConvPd pd = make_conv(s, bias, any_layout(s.src), any_layout(s.weights), any_layout(s.dst), attr);
    if (pd.src_desc() != channels_last(s.src) || pd.dst_desc() != channels_last(s.dst)) return false;
    whole = pd.impl_info_str();
  } catch (const dnnl::error&) {
    return false;
  }
  return cut_into_strips(
      s, threads,
      [&](const ConvShape& part) {
        const Md weights = pds.empty() ? any_layout(s.weights) : pds[0].weights_desc();
        pds.push_back(make_conv(part, bias, channels_last(part.src), weights, channels_last(part.dst), attr));
        return alike(pds.back());
      },
      strips);
}

}  // namespace

bool emit_conv_in_strips(Compiler& c, NodeId n, const ConvShape& shape, PostOps& post) {
  if (!post.swish() || !has_fast_swish() || shape.src.size() != 4) return false;
  const Node& node = c.graph()[n];
  const ValueId bias = node.inputs.size() > 2 ? node.inputs[2] : ValueId();
  const int threads = current_threads();
  std::vector<ConvPd> pds;
  std::vector<Strip> strips;
  if (!make_primitives(shape, bias.valid(), post, threads, pds, strips)) return false;
  const Md dst = channels_last(shape.dst);
  std::vector<SlotId> in{in_layout(c, node.inputs[0], channels_last(shape.src)),
                         conv_weights(c, node.inputs[1], shape, pds[0].weights_desc())};
  if (bias) in.push_back(c.plain(bias));
  auto kernel = std::make_unique<StripKernel>(pds, std::move(strips), bias.valid(), *post.swish(), threads);
  finish_step(c, n, post, std::move(kernel), std::move(in), dst);
  return true;
}

}  // namespace cameo::engine
