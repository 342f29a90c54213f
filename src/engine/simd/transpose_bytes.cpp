#include "engine/simd/transpose_bytes.h"

#include <algorithm>
#include <cstring>

#include "engine/parallel.h"
#include "engine/simd/intrinsics.h"

namespace cameo::engine {

namespace {

constexpr int64_t tile = 16, line = 64;  // bytes of a register, and of a line of the cache

void plain_block(const uint8_t* x, int64_t x_row, uint8_t* y, int64_t y_row, int64_t rows, int64_t columns) {
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t i = 0; i < rows; ++i) y[j * y_row + i] = x[i * x_row + j];
}

#if defined(__x86_64__) && defined(__GNUC__)
// 16 by 16: four rounds that interleave the registers of the upper and the lower half.
void whole_tile(const uint8_t* x, int64_t x_row, uint8_t* y, int64_t y_row) {
  __m128i a[tile], b[tile];
  for (int64_t i = 0; i < tile; ++i) a[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i * x_row));
  for (int round = 0; round < 4; ++round) {
    for (int64_t i = 0; i < tile / 2; ++i) {
      b[2 * i] = _mm_unpacklo_epi8(a[i], a[i + tile / 2]);
      b[2 * i + 1] = _mm_unpackhi_epi8(a[i], a[i + tile / 2]);
    }
    std::copy(b, b + tile, a);
  }
  for (int64_t i = 0; i < tile; ++i) _mm_storeu_si128(reinterpret_cast<__m128i*>(y + i * y_row), a[i]);
}

// Three planes, 16 pixels at a time: byte k of the result is byte k / 3 of plane k % 3.
__attribute__((target("ssse3"))) int64_t three_planes(const uint8_t* x, int64_t x_row, uint8_t* y, int64_t columns) {
  alignas(tile) int8_t places[3][3][tile];  // of part, of plane; -1 gives 0
  for (int part = 0; part < 3; ++part)
    for (int plane = 0; plane < 3; ++plane)
      for (int k = 0; k < tile; ++k) {
        const int at = part * static_cast<int>(tile) + k;
        places[part][plane][k] = static_cast<int8_t>(at % 3 == plane ? at / 3 : -1);
      }
  int64_t j = 0;
  for (; j + tile <= columns; j += tile) {
    __m128i planes[3];
    for (int p = 0; p < 3; ++p) planes[p] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x + p * x_row + j));
    for (int part = 0; part < 3; ++part) {
      __m128i all = _mm_setzero_si128();
      for (int p = 0; p < 3; ++p)
        all = _mm_or_si128(
            all, _mm_shuffle_epi8(planes[p], _mm_load_si128(reinterpret_cast<const __m128i*>(places[part][p]))));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(y + j * 3 + part * tile), all);
    }
  }
  return j;
}
bool has_three_planes() { return __builtin_cpu_supports("ssse3"); }
#else
int64_t three_planes(const uint8_t*, int64_t, uint8_t*, int64_t) { return 0; }
bool has_three_planes() { return false; }
void whole_tile(const uint8_t* x, int64_t x_row, uint8_t* y, int64_t y_row) {
  plain_block(x, x_row, y, y_row, tile, tile);
}
#endif

// Tiles of the ends overlap those before them.
void some_tiles(const uint8_t* x, int64_t x_row, uint8_t* y, int64_t y_row, int64_t rows, int64_t columns) {
  if (rows < tile || columns < tile) return plain_block(x, x_row, y, y_row, rows, columns);
  for (int64_t i = 0; i < rows; i += tile)
    for (int64_t j = 0; j < columns; j += tile) {
      const int64_t row = std::min(i, rows - tile), column = std::min(j, columns - tile);
      whole_tile(x + row * x_row + column, x_row, y + column * y_row + row, y_row);
    }
}

}  // namespace

// Rows of a plane lie a power of two apart in many images, so that all of them fall into the same few places of the
// cache: a whole line is taken from each at once, into a buffer.
void transpose_block(const uint8_t* x, int64_t x_row, uint8_t* y, int64_t y_row, int64_t rows, int64_t columns) {
  if (rows == 1 && y_row == 1) return void(std::memcpy(y, x, static_cast<size_t>(columns)));
  if (rows == 3 && y_row == 3 && columns >= tile && has_three_planes()) {
    const int64_t done = three_planes(x, x_row, y, columns);
    return plain_block(x + done, x_row, y + done * y_row, y_row, rows, columns - done);
  }
  const bool far_source = x_row >= y_row;
  const int64_t high = far_source ? tile : line, wide = far_source ? line : tile;
  alignas(line) uint8_t buffer[tile * line];
  for (int64_t j = 0; j < columns; j += wide)
    for (int64_t i = 0; i < rows; i += high) {
      const uint8_t* from = x + i * x_row + j;
      uint8_t* to = y + j * y_row + i;
      if (i + high > rows || j + wide > columns) {
        some_tiles(from, x_row, to, y_row, std::min(high, rows - i), std::min(wide, columns - j));
      } else if (far_source) {
        for (int64_t r = 0; r < tile; ++r) std::memcpy(buffer + r * line, from + r * x_row, line);
        for (int64_t c = 0; c < line; c += tile) whole_tile(buffer + c, line, to + c * y_row, y_row);
      } else {
        for (int64_t r = 0; r < line; r += tile) whole_tile(from + r * x_row, x_row, buffer + r, line);
        for (int64_t c = 0; c < tile; ++c) std::memcpy(to + c * y_row, buffer + c * line, line);
      }
    }
}

void transpose_bytes(const uint8_t* x, uint8_t* y, int64_t rows, int64_t columns, int64_t first, int64_t last) {
  transpose_block(x + first, columns, y + first * rows, rows, rows, last - first);
}

namespace {

class ByteReorderKernel : public Kernel {
 public:
  ByteReorderKernel(int64_t images, int64_t rows, int64_t columns) : images_(images), rows_(rows), columns_(columns) {}
  std::string about() const override { return "vector"; }
  Extents extents() const override {
    const auto bytes = static_cast<uint64_t>(images_ * rows_ * columns_);
    return {{bytes}, {bytes}};
  }
  void run(const Buffers& b) const override {
    const int64_t blocks = (columns_ + line - 1) / line;
    parallel(images_ * blocks, std::max<int64_t>(1, 32768 / (rows_ * line)), [&](int64_t from, int64_t to) {
      for (int64_t k = from; k < to; ++k) {
        const int64_t at = k / blocks * rows_ * columns_, first = k % blocks * line;
        transpose_bytes(b.input<uint8_t>(0) + at, b.output<uint8_t>(0) + at, rows_, columns_, first,
                        std::min(first + line, columns_));
      }
    });
  }

 private:
  int64_t images_, rows_, columns_;
};

bool is_channels_last(const Desc& d) {
  if (d.plain() || !d.dense()) return false;
  const std::vector<size_t>& order = d.layout->order;
  for (size_t i = 1; i + 1 < order.size(); ++i)
    if (order[i] != i + 1) return false;
  return order[0] == 0 && order.back() == 1;
}

}  // namespace

std::unique_ptr<Kernel> make_byte_reorder(const Desc& from, const Desc& to) {
  if ((from.dtype != DType::u8 && from.dtype != DType::i8) || to.dtype != from.dtype || from.rank() < 3) return nullptr;
  const bool there = from.plain() && is_channels_last(to), back = is_channels_last(from) && to.plain();
  if (!there && !back) return nullptr;
  const int64_t channels = from.dims[1];
  if (from.count() == 0 || channels < tile) return nullptr;  // what is left of tiles would be all
  const int64_t pixels = from.count() / from.dims[0] / channels;
  return there ? std::make_unique<ByteReorderKernel>(from.dims[0], channels, pixels)
               : std::make_unique<ByteReorderKernel>(from.dims[0], pixels, channels);
}

}  // namespace cameo::engine
