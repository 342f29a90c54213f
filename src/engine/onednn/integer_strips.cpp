// A convolution of bytes in strips: a few rows are convolved and, while their sums lie in cache, corrected for zero
// points and made into what the model wants. Written whole, the sums of a large image would go through memory twice.
// Each thread has strips of its own.

#include "engine/onednn/conv_strips.h"
#include "engine/onednn/integer.h"
#include "engine/onednn/strip_calls.h"
#include "engine/parallel.h"
#include "support/error.h"

namespace cameo::engine {

namespace {

constexpr int64_t large = 1 << 18;  // sums that the second level of cache does not hold

struct Kind {
  ConvPd pd;
  WindowSize windows;
  int64_t count() const { return windows.out_height * windows.out_width * windows.out_channels; }
  int64_t pixels() const { return windows.height * windows.width * windows.groups; }
};

uint64_t rounded(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

// Inputs: the image with channels last, the weights, the image's zero point in 32 bits.
class ByteStripKernel : public Kernel {
 public:
  ByteStripKernel(std::vector<Kind> kinds, std::vector<Strip> strips, const ByteConv& b, uint64_t out_bytes,
                  FinishSums finish, int threads)
      : calls_(threads),
        kinds_(std::move(kinds)),
        strips_(std::move(strips)),
        rest_(b.weights.has_rest() ? b.weights.rest : std::vector<int32_t>()),
        signed_(b.in == DType::i8),
        out_bytes_(out_bytes),
        finish_(std::move(finish)) {
    const std::pair zero(DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC, row_major(DType::i32, {1}));
    for (const Kind& k : kinds_) {
      calls_.add(k.pd, b.zero ? std::nullopt : std::optional(zero));
      sums_ = std::max(sums_, rounded(k.pd.dst_desc().get_size()));
      pixels_ = std::max(pixels_, rest_.empty() ? 0 : rounded(floats(k.pixels())));
      pad_ = std::max(pad_, rounded(k.pd.scratchpad_desc().get_size()));
    }
    scratch_bytes = (sums_ + pixels_ + pad_) * static_cast<uint64_t>(threads);
  }
  std::string about() const override { return calls_.about(); }
  std::shared_ptr<void> make_state() const override { return calls_.make_state(); }
  Extents extents() const override;
  void run(const Buffers& b) const override;

 private:
  void one(const Buffers& b, const Strip& s, int64_t thread) const;

  StripCalls calls_;
  std::vector<Kind> kinds_;
  std::vector<Strip> strips_;
  std::vector<int32_t> rest_;
  bool signed_;
  uint64_t out_bytes_;
  FinishSums finish_;
  uint64_t sums_ = 0, pixels_ = 0, pad_ = 0;  // bytes of scratch of one thread
};

Extents ByteStripKernel::extents() const {
  Extents e{{0, kinds_[0].pd.weights_desc().get_size(), sizeof(int32_t)}, {0}};
  for (const Strip& s : strips_) {
    const Kind& k = kinds_[s.kind];
    e.in[0] = std::max(e.in[0], static_cast<uint64_t>(s.in) + k.pd.src_desc().get_size());
    e.out[0] = std::max(e.out[0], static_cast<uint64_t>(s.out + k.count()) * out_bytes_);
  }
  return e;
}

void ByteStripKernel::one(const Buffers& b, const Strip& s, int64_t thread) const {
  const Kind& k = kinds_[s.kind];
  std::byte* own = b.scratch + static_cast<size_t>(thread) * (sums_ + pixels_ + pad_);
  std::byte* image = b.in[0] + s.in;
  calls_.call(b.state, s.kind, thread, {image, b.in[1], own, own + sums_ + pixels_, b.in[2]});
  auto* sums = reinterpret_cast<int32_t*>(own);
  if (!rest_.empty())
    add_window_rest(k.windows, signed_, image, *b.input<int32_t>(2), rest_, sums,
                    reinterpret_cast<int32_t*>(own + sums_));
  finish_(sums, b.out[0], s.out, k.count());
}

void ByteStripKernel::run(const Buffers& b) const {
  calls_.each(strips_.size(), [&](size_t strip, int64_t thread) { one(b, strips_[strip], thread); });
}

// False where oneDNN cannot.
bool make_kinds(const ByteConv& b, int threads, std::vector<Kind>& kinds, std::vector<Strip>& strips) {
  const auto make = [&](const ConvShape& part) {
    const Md weights = kinds.empty() ? any_layout(b.shape.weights, DType::i8) : kinds[0].pd.weights_desc();
    kinds.push_back({make_conv(part, false, channels_last(part.src, b.in), weights, channels_last(part.dst, DType::i32),
                               integer_attr(b.zero_attr())),
                     *window_size(part)});
    return true;
  };
  return cut_into_strips(b.shape, threads, make, strips);
}

}  // namespace

SlotId emit_bytes_in_strips(Compiler& c, const ByteConv& b, const std::string& label, DType out, FinishSums finish) {
  const Dims& d = b.shape.dst;
  if (d.size() != 4 || d[0] * d[1] * d[2] * d[3] < large) return no_slot;
  const int threads = current_threads();
  std::vector<Kind> kinds;
  std::vector<Strip> strips;
  if (!make_kinds(b, threads, kinds, strips)) return no_slot;
  const SlotId slot = c.make(desc_with({out, d, nullptr}, channels_last(d, out)));
  std::vector<SlotId> in{in_layout(c, b.x, channels_last(b.shape.src, b.in)),
                         byte_weights(c, b, kinds[0].pd.weights_desc()), wide_zero(c, b)};
  auto kernel = std::make_unique<ByteStripKernel>(std::move(kinds), std::move(strips), b,
                                                  static_cast<uint64_t>(bits(out)) / 8, std::move(finish), threads);
  c.step(b.node, label, std::move(kernel), std::move(in), {slot});
  return slot;
}

}  // namespace cameo::engine
