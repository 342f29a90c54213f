#include "engine/simd/byte_products.h"

#include <algorithm>
#include <cstring>

#include "engine/parallel.h"
#include "engine/simd/quantize_rows.h"
#include "engine/simd/transpose_bytes.h"

namespace cameo::engine {

ByteImages::Axes ByteImages::padded() const {
  Axes out_sizes{};
  for (size_t i = 0; i < 3; ++i)
    out_sizes[i] = std::max(begin[i] + in[i], (out[i] - 1) * strides[i] + (kernel[i] - 1) * dilations[i] + 1);
  return out_sizes;
}

namespace {

// Taps that lie next to each other in an image with channels last are one run.
bool is_joined(const ByteImages& s) { return s.groups == 1 && s.dilations[2] == 1; }
int64_t run_bytes(const ByteImages& s) { return s.in_channels * (is_joined(s) ? s.kernel[2] : 1); }
int64_t run_steps(const ByteImages& s) { return (run_bytes(s) + 3) / 4; }
int64_t run_count(const ByteImages& s) { return s.kernel[0] * s.kernel[1] * (is_joined(s) ? 1 : s.kernel[2]); }

// Where the runs of a window begin, in an image of these sizes.
std::vector<int64_t> run_offsets(const ByteImages& s, const ByteImages::Axes& sizes) {
  std::vector<int64_t> out;
  const int64_t across = is_joined(s) ? 1 : s.kernel[2];
  for (int64_t z = 0; z < s.kernel[0]; ++z)
    for (int64_t y = 0; y < s.kernel[1]; ++y)
      for (int64_t x = 0; x < across; ++x)
        out.push_back(((z * s.dilations[0] * sizes[1] + y * s.dilations[1]) * sizes[2] + x * s.dilations[2]) *
                      s.pixel_bytes());
  return out;
}

// Panels of equal width, four registers at most.
void add_panels(ByteWeights& w, int64_t first, int64_t columns, int64_t steps) {
  const int64_t registers = (columns + vnni_lanes - 1) / vnni_lanes, panels = (registers + 3) / 4;
  for (int64_t p = 0, at = 0; p < panels; ++p) {
    const int64_t width = registers * (p + 1) / panels - at;
    const int64_t offset = w.panels.empty() ? 0 : w.panels.back().offset + w.panels.back().registers * 64 * steps;
    w.panels.push_back({first + at * vnni_lanes, width, offset});
    at += width;
  }
}

}  // namespace

ByteWeights::ByteWeights(const ByteImages& s, std::vector<int32_t> channel_zeros) {
  if (std::any_of(channel_zeros.begin(), channel_zeros.end(), [](int32_t z) { return z != 0; }))
    zeros = std::move(channel_zeros);
  if (s.is_depthwise()) {
    group_columns = 1;
    stride = (s.groups + 63) / 64 * 64;
    panel_bytes = static_cast<uint64_t>((s.depth() + 3) / 4 * stride * 4);
    bytes = panel_bytes + static_cast<uint64_t>(s.columns()) * sizeof(int32_t);
    if (!zeros.empty()) zeros.resize(static_cast<size_t>(stride), 0);
    return;
  }
  group_columns = s.out_channels + (zeros.empty() ? 0 : 1);
  const int64_t steps = run_count(s) * run_steps(s);
  for (int64_t g = 0; g < s.groups; ++g) {
    first_panel.push_back(panels.size());
    add_panels(*this, g * group_columns, group_columns, steps);
  }
  first_panel.push_back(panels.size());
  stride = panels.back().first + panels.back().registers * vnni_lanes;
  panel_bytes = static_cast<uint64_t>(panels.back().offset + panels.back().registers * 64 * steps);
  bytes = panel_bytes + static_cast<uint64_t>(s.columns()) * sizeof(int32_t);
}

namespace {

void pack_channels(const ByteImages& s, const ByteWeights& w, const ByteSource& from, int8_t* to, int32_t* sums) {
  for (int64_t c = 0; c < s.groups; ++c)
    for (int64_t tap = 0; tap < s.depth(); ++tap) {
      const int8_t v = from.at(c, tap);
      to[(tap / 4 * w.stride + channel_place(c)) * 4 + tap % 4] = v;
      sums[c] += v;
    }
}

}  // namespace

void pack_byte_weights(const ByteImages& s, const ByteWeights& w, const ByteSource& from, std::byte* to) {
  std::memset(to, 0, w.bytes);
  auto* sums = reinterpret_cast<int32_t*>(to + w.panel_bytes);
  if (s.is_depthwise()) return pack_channels(s, w, from, reinterpret_cast<int8_t*>(to), sums);
  const int64_t taps = s.depth() / s.in_channels, across = run_bytes(s) / s.in_channels;
  for (int64_t g = 0; g < s.groups; ++g)
    for (size_t p = w.first_panel[static_cast<size_t>(g)]; p < w.first_panel[static_cast<size_t>(g + 1)]; ++p) {
      const VnniPanel& panel = w.panels[p];
      const int64_t own = panel.first - g * w.group_columns, width = panel.registers * vnni_lanes,
                    last = std::min(s.out_channels - own, width), first_channel = g * s.out_channels + own;
      auto* bytes = reinterpret_cast<int8_t*>(to) + panel.offset;
      for (int64_t run = 0; run < run_count(s); ++run, bytes += run_steps(s) * width * 4)
        for (int64_t byte = 0; byte < run_bytes(s); ++byte) {
          const int64_t i = byte % s.in_channels * taps + run * across + byte / s.in_channels;
          int8_t* put = bytes + byte / 4 * width * 4 + byte % 4;
          for (int64_t c = 0; c < last; ++c) {
            const int8_t v = from.at(first_channel + c, i);
            put[c * 4] = v;
            sums[first_channel + c] += v;
          }
          // The column after a group's channels adds up the bytes themselves.
          if (!w.zeros.empty() && last < width && own + last == s.out_channels) put[last * 4] = 1;
        }
    }
}

namespace {

constexpr int64_t chunk_pixels = 4 * vnni_rows_max;  // whole lines of the cache

class ByteProductKernel : public Kernel {
 public:
  explicit ByteProductKernel(ByteProduct p) : p_(std::move(p)), s_(p_.size) {
    if (s_.is_pointwise()) {  // one long row: fewer ends
      s_.in = {1, 1, s_.in_pixels()};
      s_.out = s_.in;
    }
    padded_ = s_.padded();
    // Windows inside the image, read where it lies: four bytes at a time, never past the end.
    copies_ = !p_.channels_last || p_.is_signed || padded_ != s_.in || s_.begin != ByteImages::Axes{} ||
              (run_bytes(s_) % 4 != 0 && !s_.is_depthwise());
    offsets_ = run_offsets(s_, padded_);
    image_bytes_ = padded_[0] * padded_[1] * padded_[2] * s_.pixel_bytes();
    if (copies_) scratch_bytes = static_cast<uint64_t>(image_bytes_) + 64;
    channels_ = s_.columns();
    p_.finish.scale.resize(p_.finish.scale.size() + 64);  // rows are read 64 at a time
  }
  std::string about() const override { return "bytes, vnni"; }
  Extents extents() const override {
    Extents e{{static_cast<uint64_t>(s_.images * s_.in_pixels() * s_.pixel_bytes()), p_.weights.bytes},
              {static_cast<uint64_t>(s_.images * s_.out_pixels() * channels_) * out_bytes()}};
    if (!p_.zero) e.in.push_back(1);
    return e;
  }

  void run(const Buffers& b) const override {
    const int32_t own_zero = p_.zero ? *p_.zero : p_.is_signed ? *b.input<int8_t>(2) : *b.input<uint8_t>(2);
    const int32_t zero = own_zero + (p_.is_signed ? 128 : 0);
    const std::vector<int32_t> start =
        first_sums(zero, reinterpret_cast<const int32_t*>(b.in[1] + p_.weights.panel_bytes));
    const int64_t chunks = (s_.out_pixels() + chunk_pixels - 1) / chunk_pixels;
    for (int64_t image = 0; image < s_.images; ++image) {
      const auto* x = b.input<uint8_t>(0) + image * s_.in_pixels() * s_.pixel_bytes();
      if (copies_) copy(x, reinterpret_cast<uint8_t*>(b.scratch), static_cast<uint8_t>(zero));
      const uint8_t* from = copies_ ? reinterpret_cast<const uint8_t*>(b.scratch) : x;
      const int64_t work = chunk_pixels * channels_ * s_.depth();
      parallel(chunks, std::max<int64_t>(1, (1 << 20) / work), [&](int64_t first, int64_t last) {
        std::vector<int32_t> sums(static_cast<size_t>(vnni_rows_max * p_.weights.stride + 64));
        std::vector<uint8_t> narrow(turns_bytes() ? static_cast<size_t>(chunk_pixels * channels_) : 0);
        for (int64_t c = first; c < last; ++c) chunk(b, from, image, c * chunk_pixels, start, sums, narrow);
      });
    }
  }

 private:
  uint64_t out_bytes() const { return static_cast<uint64_t>(bits(p_.out)) / 8; }

  // What the sums begin with: the bias, and what the zero points of image and weights take away.
  std::vector<int32_t> first_sums(int32_t zero, const int32_t* weight_sums) const {
    const ByteWeights& w = p_.weights;
    std::vector<int32_t> out(static_cast<size_t>(w.stride), 0);
    for (int64_t n = 0; n < channels_; ++n) {
      const auto at = static_cast<size_t>(n);
      uint32_t v = p_.finish.bias.empty() ? 0 : static_cast<uint32_t>(p_.finish.bias[at]);
      v -= static_cast<uint32_t>(zero) * static_cast<uint32_t>(weight_sums[at]);
      if (!w.zeros.empty()) v += static_cast<uint32_t>(zero * w.zeros[at]) * static_cast<uint32_t>(s_.depth());
      out[static_cast<size_t>(n / s_.out_channels * w.group_columns + n % s_.out_channels)] = static_cast<int32_t>(v);
    }
    return out;
  }

  // The image with channels last and its padding, as unsigned bytes.
  void copy(const uint8_t* x, uint8_t* to, uint8_t zero) const {
    const int64_t pixel = s_.pixel_bytes(), row = padded_[2] * pixel, plane = s_.in_pixels();
    if (s_.is_pointwise() && !p_.channels_last) return copy_pixels(x, to);
    parallel(padded_[0] * padded_[1], std::max<int64_t>(1, 32768 / row), [&](int64_t first, int64_t last) {
      for (int64_t r = first; r < last; ++r) {
        const int64_t z = r / padded_[1] - s_.begin[0], y = r % padded_[1] - s_.begin[1];
        uint8_t* line = to + r * row;
        if (z < 0 || z >= s_.in[0] || y < 0 || y >= s_.in[1]) {
          std::memset(line, zero, static_cast<size_t>(row));
          continue;
        }
        const int64_t left = s_.begin[2] * pixel, middle = s_.in[2] * pixel, at = (z * s_.in[1] + y) * s_.in[2];
        std::memset(line, zero, static_cast<size_t>(left));
        std::memset(line + left + middle, zero, static_cast<size_t>(row - left - middle));
        if (p_.channels_last) std::memcpy(line + left, x + at * pixel, static_cast<size_t>(middle));
        else transpose_block(x + at, plane, line + left, pixel, pixel, s_.in[2]);
        if (p_.is_signed) make_unsigned(line + left, middle);
      }
    });
  }

  static void make_unsigned(uint8_t* bytes, int64_t count) {
    for (int64_t i = 0; i < count; ++i) bytes[i] ^= 0x80;
  }

  // An image without padding whose planes lie apart.
  void copy_pixels(const uint8_t* x, uint8_t* to) const {
    constexpr int64_t at_once = 256;
    const int64_t pixel = s_.pixel_bytes(), plane = s_.in_pixels();
    parallel((plane + at_once - 1) / at_once, std::max<int64_t>(1, 128 / pixel), [&](int64_t first, int64_t last) {
      const int64_t from = first * at_once, count = std::min(last * at_once, plane) - from;
      transpose_block(x + from, plane, to + from * pixel, pixel, pixel, count);
      if (p_.is_signed) make_unsigned(to + from * pixel, count * pixel);
    });
  }

  // Bytes whose planes lie apart: collected until whole lines of the cache can be written.
  bool turns_bytes() const { return out_bytes() == 1 && !p_.out_last && s_.out_pixels() > 1; }

  void chunk(const Buffers& b, const uint8_t* x, int64_t image, int64_t first, const std::vector<int32_t>& start,
             std::vector<int32_t>& sums, std::vector<uint8_t>& narrow) const {
    const int64_t count = std::min(chunk_pixels, s_.out_pixels() - first);
    for (int64_t i = 0; i < count; i += vnni_rows_max) {
      const int64_t some = std::min(vnni_rows_max, count - i);
      add_up(b, x, first + i, some, start, sums);
      if (turns_bytes()) put_bytes(sums.data(), some, narrow.data() + i * channels_);
      else put(b, sums.data(), image, first + i, some);
    }
    if (turns_bytes())
      transpose_block(narrow.data(), channels_, b.output<uint8_t>(0) + image * s_.out_pixels() * channels_ + first,
                      s_.out_pixels(), count, channels_);
  }

  void add_up(const Buffers& b, const uint8_t* x, int64_t first, int64_t count, const std::vector<int32_t>& start,
              std::vector<int32_t>& sums) const {
    const uint8_t* rows[vnni_rows_max];
    find_windows(x, first, count, rows);
    const ByteWeights& w = p_.weights;
    if (s_.is_depthwise())
      return vnni_channels(
          rows, count, {offsets_, channels_, w.stride, b.input<int8_t>(1), w.zeros.empty() ? nullptr : w.zeros.data()},
          start.data(), sums.data());
    for (int64_t g = 0; g < s_.groups; ++g) {
      if (g > 0)
        for (const uint8_t*& r : rows) r += s_.in_channels;
      for (size_t p = w.first_panel[static_cast<size_t>(g)]; p < w.first_panel[static_cast<size_t>(g + 1)]; ++p)
        vnni_products(rows, count, {offsets_, run_steps(s_)}, w.panels[p], b.input<int8_t>(1), start.data(),
                      sums.data(), w.stride);
    }
    if (!w.zeros.empty())
      for (int64_t i = 0; i < count; ++i) take_weight_zeros(sums.data() + i * w.stride);
  }

  // Where the windows of some pixels begin; those beyond `count` are the last one again.
  void find_windows(const uint8_t* x, int64_t first, int64_t count, const uint8_t** rows) const {
    int64_t ox = first % s_.out[2], oy = first / s_.out[2] % s_.out[1], oz = first / s_.out[2] / s_.out[1];
    const int64_t step = s_.strides[2] * s_.pixel_bytes();
    const auto row = [&] {
      return x + (oz * s_.strides[0] * padded_[1] + oy * s_.strides[1]) * padded_[2] * s_.pixel_bytes();
    };
    const uint8_t* at = row() + ox * step;
    for (int64_t i = 0; i < vnni_rows_max; ++i) {
      rows[i] = at;
      if (i + 1 >= count) continue;
      at += step;
      if (++ox < s_.out[2]) continue;
      ox = 0;
      if (++oy == s_.out[1]) oy = 0, ++oz;
      at = row();
    }
  }

  // Less the bytes' sum times the weights' zero points; the channels of all groups side by side.
  void take_weight_zeros(int32_t* row) const {
    const ByteWeights& w = p_.weights;
    for (int64_t g = 0; g < s_.groups; ++g) {
      const int32_t* from = row + g * w.group_columns;
      const int32_t bytes = from[s_.out_channels];
      int32_t* to = row + g * s_.out_channels;
      const int32_t* zeros = w.zeros.data() + g * s_.out_channels;
      if (to != from) std::memmove(to, from, static_cast<size_t>(s_.out_channels) * sizeof(int32_t));
      add_multiple_row(to, zeros, -bytes, s_.out_channels);
    }
  }

  void put(const Buffers& b, int32_t* sums, int64_t image, int64_t first, int64_t count) const {
    const int64_t stride = p_.weights.stride;
    const int64_t at = image * s_.out_pixels() * channels_;  // the image's first element
    if (p_.result == ByteResult::floats)
      for (int64_t i = 0; i < count; ++i)
        to_float_row(sums + i * stride, reinterpret_cast<float*>(sums + i * stride), channels_);
    if (out_bytes() == 4) {
      auto* y = b.output<int32_t>(0) + at;
      if (!p_.out_last && s_.out_pixels() > 1)
        return vnni_transpose(sums, stride, y + first, s_.out_pixels(), count, channels_, is_large());
      for (int64_t i = 0; i < count; ++i) std::copy_n(sums + i * stride, channels_, y + (first + i) * channels_);
      return;
    }
    put_bytes(sums, count, b.output<uint8_t>(0) + at + first * channels_);
  }

  // Results that no cache holds until they are read.
  bool is_large() const { return s_.images * s_.out_pixels() * channels_ * 4 > int64_t{1} << 23; }

  void put_bytes(const int32_t* sums, int64_t count, uint8_t* y) const {
    if (p_.out == DType::u8) put_as(sums, count, y);
    else put_as(sums, count, reinterpret_cast<int8_t*>(y));
  }

  template <class T>
  void put_as(const int32_t* sums, int64_t count, T* y) const {
    const float* scale = p_.finish.scale.data();
    const float zero = p_.finish.zero;
    const int64_t stride = p_.weights.stride;
    if (p_.result == ByteResult::bytes) return vnni_requantize_rows(sums, stride, count, scale, y, channels_, zero);
    for (int64_t i = 0; i < count; ++i)
      requantize_product_row(sums + i * stride, scale, y + i * channels_, channels_, zero);
  }

  ByteProduct p_;
  ByteImages s_;
  ByteImages::Axes padded_;
  bool copies_ = false;
  std::vector<int64_t> offsets_;
  int64_t image_bytes_ = 0, channels_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> make_byte_product(ByteProduct p) { return std::make_unique<ByteProductKernel>(std::move(p)); }

}  // namespace cameo::engine
