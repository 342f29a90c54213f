// Sums and products of bytes where one operand has a number for each channel, each row, or one for all.
#include <algorithm>
#include <cstring>

#include "engine/parallel.h"
#include "engine/simd/byte_operands.h"

namespace cameo::engine {

namespace {

constexpr int64_t filled = 1024;  // bytes of the smaller operand that are written out

struct Parts {
  int64_t outer = 1, middle = 1, inner = 1;
};

// How `part` lies along `whole`: its axes are next to each other in memory, in the same order.
std::optional<Parts> parts_of(const Desc& whole, std::vector<int64_t> part) {
  if (part.size() > whole.rank()) return std::nullopt;
  part.insert(part.begin(), whole.rank() - part.size(), 1);
  const Physical now(whole);
  Parts out;
  size_t last = 0;
  bool begun = false, ended = false;
  for (size_t i = 0; i < now.dims.size(); ++i) {
    const size_t axis = now.order[i];
    if (now.dims[i] == 1 && part[axis] == 1) continue;
    if (part[axis] == now.dims[i]) {
      if (ended || (begun && axis < last)) return std::nullopt;
      begun = true, last = axis, out.middle *= now.dims[i];
    } else if (part[axis] == 1) {
      (begun ? out.inner : out.outer) *= now.dims[i];
      ended = begun;
    } else {
      return std::nullopt;
    }
  }
  return out;
}

class BroadcastKernel : public Kernel {
 public:
  BroadcastKernel(const Parts& s, bool adds, const ByteBinary& p)
      : s_(s), row_(adds ? add_bytes_row : multiply_bytes_row), p_(p) {
    in_place = {0};
  }
  std::string about() const override { return "bytes"; }
  Extents extents() const override {
    const auto n = static_cast<uint64_t>(s_.outer * s_.middle * s_.inner);
    return {{n, static_cast<uint64_t>(s_.middle)}, {n}};
  }
  void run(const Buffers& b) const override {
    if (s_.inner >= 64) by_number(b);
    else by_rows(b);
  }

 private:
  // Long runs that take the same number.
  void by_number(const Buffers& b) const {
    parallel(s_.outer * s_.middle, std::max<int64_t>(1, 32768 / s_.inner), [&](int64_t first, int64_t last) {
      std::vector<uint8_t> same(static_cast<size_t>(std::min(filled, s_.inner)));
      for (int64_t r = first; r < last; ++r) {
        std::memset(same.data(), b.input<uint8_t>(1)[r % s_.middle], same.size());
        for (int64_t i = 0; i < s_.inner; i += filled) {
          const int64_t at = r * s_.inner + i;
          row_(b.input<uint8_t>(0) + at, same.data(), b.output<uint8_t>(0) + at, std::min(filled, s_.inner - i), p_);
        }
      }
    });
  }

  // Short ones: the smaller operand as a row, as often as makes it long.
  void by_rows(const Buffers& b) const {
    const int64_t width = s_.middle * s_.inner, times = std::clamp<int64_t>(filled / width, 1, s_.outer);
    std::vector<uint8_t> row;
    row.reserve(static_cast<size_t>(width * times));
    for (int64_t t = 0; t < times; ++t)
      for (int64_t m = 0; m < s_.middle; ++m)
        row.insert(row.end(), static_cast<size_t>(s_.inner), b.input<uint8_t>(1)[m]);
    const int64_t groups = (s_.outer + times - 1) / times;
    parallel(groups, std::max<int64_t>(1, 32768 / (width * times)), [&](int64_t first, int64_t last) {
      for (int64_t g = first; g < last; ++g) {
        const int64_t at = g * times * width, count = std::min(times, s_.outer - g * times) * width;
        row_(b.input<uint8_t>(0) + at, row.data(), b.output<uint8_t>(0) + at, count, p_);
      }
    });
  }

  Parts s_;
  void (*row_)(const uint8_t*, const uint8_t*, uint8_t*, int64_t, const ByteBinary&);
  ByteBinary p_;
};

}  // namespace

std::optional<BroadcastStep> broadcast_step(Compiler& c, ValueId whole, ValueId part, const std::vector<int64_t>& dims,
                                            bool adds, const ByteBinary& p) {
  if (c.desc(whole)->dims != dims) return std::nullopt;
  const SlotId there = dense_slot(c, whole);
  if (const auto parts = parts_of(c.slot_desc(there), c.desc(part)->dims))
    return BroadcastStep{std::make_unique<BroadcastKernel>(*parts, adds, p), there, c.plain(part)};
  const auto parts = parts_of({DType::u8, dims, nullptr}, c.desc(part)->dims);
  if (!parts) return std::nullopt;
  return BroadcastStep{std::make_unique<BroadcastKernel>(*parts, adds, p), c.plain(whole), c.plain(part)};
}

}  // namespace cameo::engine
