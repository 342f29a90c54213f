// A convolution of bytes in strips: a few rows are convolved and, while their sums lie in cache, corrected for zero
// points and made into what the model wants. Written whole, the sums of a large image would go through memory twice.
// Each thread has strips of its own.
#include <array>
#include <map>

#include "engine/onednn/conv_strips.h"
#include "engine/onednn/integer.h"
#include "engine/parallel.h"
#include "support/error.h"

namespace cameo::engine {

namespace {

constexpr int64_t large = 1 << 18;  // sums that the second level of cache does not hold

// Strips of one kind differ in their place only.
struct Kind {
  ConvPd pd;
  WindowSize windows;
  int64_t count() const { return windows.out_height * windows.out_width * windows.out_channels; }
  int64_t pixels() const { return windows.height * windows.width * windows.groups; }
};

struct Strip {
  size_t kind;
  int64_t in, out;  // offsets in elements
};

uint64_t rounded(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

// Inputs: the image with channels last, the weights, the image's zero point in 32 bits.
class ByteStripKernel : public Kernel {
 public:
  ByteStripKernel(std::vector<Kind> kinds, std::vector<Strip> strips, const ByteConv& b, uint64_t out_bytes,
                  FinishSums finish, int threads)
      : kinds_(std::move(kinds)),
        strips_(std::move(strips)),
        rest_(b.weights.has_rest() ? b.weights.rest : std::vector<int32_t>()),
        signed_(b.in == DType::i8),
        runtime_zero_(!b.zero),
        out_bytes_(out_bytes),
        finish_(std::move(finish)),
        threads_(threads) {
    for (const Kind& k : kinds_) {
      primitives_.emplace_back(k.pd);
      sums_ = std::max(sums_, rounded(k.pd.dst_desc().get_size()));
      pixels_ = std::max(pixels_, rest_.empty() ? 0 : rounded(floats(k.pixels())));
      pad_ = std::max(pad_, rounded(k.pd.scratchpad_desc().get_size()));
    }
    scratch_bytes = (sums_ + pixels_ + pad_) * static_cast<uint64_t>(threads);
  }
  std::string about() const override { return cat(kinds_[0].pd.impl_info_str(), " in strips"); }
  std::shared_ptr<void> make_state() const override;
  Extents extents() const override;
  void run(const Buffers& b) const override;

 private:
  struct State;
  void one(const Buffers& b, const Strip& s, int64_t thread) const;

  std::vector<Kind> kinds_;
  std::vector<dnnl::convolution_forward> primitives_;
  std::vector<Strip> strips_;
  std::vector<int32_t> rest_;
  bool signed_, runtime_zero_;
  uint64_t out_bytes_;
  FinishSums finish_;
  int threads_;
  uint64_t sums_ = 0, pixels_ = 0, pad_ = 0;  // bytes of scratch of one thread
};

// The memory objects of every thread and primitive; their addresses are set for every strip.
struct ByteStripKernel::State {
  struct Call {
    std::vector<dnnl::memory> memory;
    std::vector<dnnl_exec_arg_t> args;
    std::array<void*, 5> at{};
  };
  std::vector<Call> calls;
};

std::shared_ptr<void> ByteStripKernel::make_state() const {
  auto s = std::make_shared<State>();
  for (int t = 0; t < threads_; ++t)
    for (const Kind& k : kinds_) {
      State::Call& call = s->calls.emplace_back();
      const auto add = [&](int name, const Md& md) {
        call.memory.emplace_back(md, cpu(), nullptr);
        call.args.push_back({name, call.memory.back().get()});
      };
      add(DNNL_ARG_SRC, k.pd.src_desc());
      add(DNNL_ARG_WEIGHTS, k.pd.weights_desc());
      add(DNNL_ARG_DST, k.pd.dst_desc());
      add(DNNL_ARG_SCRATCHPAD, k.pd.scratchpad_desc());
      if (runtime_zero_) add(DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC, row_major(DType::i32, {1}));
    }
  return s;
}

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
  State::Call& call = static_cast<State*>(b.state)->calls[static_cast<size_t>(thread) * kinds_.size() + s.kind];
  std::byte* own = b.scratch + static_cast<size_t>(thread) * (sums_ + pixels_ + pad_);
  std::byte* image = b.in[0] + s.in;
  const std::array<void*, 5> at{image, b.in[1], own, own + sums_ + pixels_, b.in[2]};
  for (size_t i = 0; i < call.args.size(); ++i)
    if (call.at[i] != at[i]) dnnl_memory_set_data_handle(call.args[i].memory, call.at[i] = at[i]);
  const dnnl_status_t status = dnnl_primitive_execute(primitives_[s.kind].get(), stream().get(),
                                                      static_cast<int>(call.args.size()), call.args.data());
  if (status != dnnl_success)
    throw error("run.onednn", cat("oneDNN could not run ", about(), " (status ", static_cast<int>(status), ")"));
  auto* sums = reinterpret_cast<int32_t*>(own);
  if (!rest_.empty())
    add_window_rest(k.windows, signed_, image, *b.input<int32_t>(2), rest_, sums,
                    reinterpret_cast<int32_t*>(own + sums_));
  finish_(sums, b.out[0], s.out, k.count());
}

void ByteStripKernel::run(const Buffers& b) const {
  const auto count = static_cast<int64_t>(strips_.size());
  parallel(threads_, 1, [&](int64_t first, int64_t last) {
    const ThreadScope alone(1);
    for (int64_t t = first; t < last; ++t)
      for (int64_t i = count * t / threads_; i < count * (t + 1) / threads_; ++i)
        one(b, strips_[static_cast<size_t>(i)], t);
  });
}

// Each kind once. False where oneDNN cannot.
bool make_kinds(const ByteConv& b, int threads, std::vector<Kind>& kinds, std::vector<Strip>& strips) {
  const ConvShape& s = b.shape;
  const ThreadScope alone(1);
  std::map<std::array<int64_t, 4>, size_t> known;
  const int64_t in_row = s.src[1] * s.src[3], out_row = s.dst[1] * s.dst[3];
  try {
    for (int64_t image = 0; image < s.dst[0]; ++image)
      for (const Rows& r : cut_into_strips(s, threads)) {
        if (r.in_count <= 0) return false;
        const auto [it, fresh] = known.try_emplace({r.out_count, r.in_count, r.above, r.below}, kinds.size());
        if (fresh) {
          const ConvShape part = strip_shape(s, r);
          const Md weights = kinds.empty() ? any_layout(s.weights, DType::i8) : kinds[0].pd.weights_desc();
          kinds.push_back({make_conv(part, false, channels_last(part.src, b.in), weights,
                                     channels_last(part.dst, DType::i32), integer_attr(b.zero_attr())),
                           *window_size(part)});
        }
        strips.push_back(
            {it->second, (image * s.src[2] + r.in_first) * in_row, (image * s.dst[2] + r.out_first) * out_row});
      }
    return true;
  } catch (const dnnl::error&) {
    return false;
  }
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
