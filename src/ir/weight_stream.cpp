#include "ir/weight_stream.h"
#include "support/file_bytes.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "support/budget.h"

namespace cameo::ir {

namespace {

constexpr int64_t tile_bytes = 1 << 20;  // stays in the processor's cache between being gathered and being written
constexpr int64_t line = 16;             // elements read side by side: a cache line of floats

struct Wide {  // complex128
  uint64_t half[2];
};

template <class T>
T load(const std::byte* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

// Four rows and columns of four bytes each: row i of `out` is what lies i elements behind the four places in the
// source.
void transpose_square(const std::byte* source, int64_t stride_bytes, std::byte* out, int64_t row_bytes) {
  typedef uint32_t Quad __attribute__((vector_size(16)));
  const auto a = load<Quad>(source), b = load<Quad>(source + stride_bytes), c = load<Quad>(source + 2 * stride_bytes),
             d = load<Quad>(source + 3 * stride_bytes);
  const Quad ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const Quad ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7), cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  const Quad rows[4] = {__builtin_shufflevector(ab, cd, 0, 1, 4, 5), __builtin_shufflevector(ab, cd, 2, 3, 6, 7),
                        __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5),
                        __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7)};
  for (int i = 0; i < 4; ++i) std::memcpy(out + i * row_bytes, &rows[i], sizeof(Quad));
}

// A matrix whose rows lie across the source: sixteen places are read side by side, and written a cache line at a time.
template <class T>
void transpose(const std::byte* source, int64_t row_stride, int64_t stride, int64_t rows, int64_t columns,
               std::byte* out) {
  constexpr int64_t size = sizeof(T);
  for (int64_t c = 0; c < columns; c += line) {
    const int64_t width = std::min(line, columns - c);
    int64_t r = 0;
    if (size == 4 && row_stride == 1 && width == line)
      for (; r + 4 <= rows; r += 4) {
        for (int64_t k = c + line; r % line == 0 && k < std::min(c + 2 * line, columns); ++k)
          __builtin_prefetch(source + (r + k * stride) * size);
        for (int64_t k = c; k < c + line; k += 4)
          transpose_square(source + (r + k * stride) * size, stride * size, out + (r * columns + k) * size,
                           columns * size);
      }
    for (; r < rows; ++r) {
      const std::byte* from = source + (r * row_stride + c * stride) * size;
      std::byte* to = out + (r * columns + c) * size;
      for (int64_t i = 0; i < width; ++i, from += stride * size, to += size) std::memcpy(to, from, sizeof(T));
    }
  }
}

// One axis after the other; the last two at once.
template <class T>
void gather(const Weight& w, size_t axis, int64_t at, int64_t first, int64_t rows, std::byte*& out) {
  const size_t rank = w.shape.size();
  const std::byte* source = w.source.data() + at * static_cast<int64_t>(sizeof(T));
  if (axis == rank) {
    std::memcpy(out, source, sizeof(T));
    out += sizeof(T);
  } else if (axis + 1 == rank) {
    source += first * w.strides[axis] * static_cast<int64_t>(sizeof(T));
    if (w.strides[axis] == 1) std::memcpy(out, source, static_cast<size_t>(rows) * sizeof(T));
    else transpose<T>(source, 0, w.strides[axis], 1, rows, out);
    out += static_cast<size_t>(rows) * sizeof(T);
  } else if (axis + 2 == rank && w.strides[axis + 1] != 1) {
    transpose<T>(source + first * w.strides[axis] * static_cast<int64_t>(sizeof(T)), w.strides[axis],
                 w.strides[axis + 1], rows, w.shape[axis + 1], out);
    out += static_cast<size_t>(rows * w.shape[axis + 1]) * sizeof(T);
  } else {
    for (int64_t i = first; i < first + rows; ++i)
      gather<T>(w, axis + 1, at + i * w.strides[axis], 0, w.shape[axis + 1], out);
  }
}

template <class T>
void multiply(const std::byte* from, std::byte* to, int64_t row, std::span<const double> factors) {
  for (const double factor : factors)
    for (int64_t i = 0; i < row; ++i, from += sizeof(T), to += sizeof(T)) {
      const T v = static_cast<T>(static_cast<double>(load<T>(from)) * factor);
      std::memcpy(to, &v, sizeof v);
    }
}

int64_t row_elements(const Weight& w) {
  return w.shape.empty() ? 1 : w.count() == 0 ? 0 : element_count(std::span(w.shape).subspan(1));
}

int64_t element_bytes(const Weight& w) { return bits(w.dtype) / 8; }

}  // namespace

void check_inside(const Weight& w) {
  if (w.strides.empty()) {
    if (length_of(w.source) < packed_bytes(w.dtype, w.count()))
      throw error("file.tensor-bounds", "a tensor's data is shorter than its shape needs");
    return;
  }
  int64_t lowest = w.start, highest = w.start;
  for (size_t i = 0; i < w.shape.size(); ++i) {
    int64_t reach = 0;
    if (w.shape[i] == 0) return;
    if (__builtin_mul_overflow(w.shape[i] - 1, w.strides[i], &reach) ||
        __builtin_add_overflow(reach < 0 ? lowest : highest, reach, reach < 0 ? &lowest : &highest))
      throw error("file.tensor-bounds", "a tensor's strides reach outside its storage");
  }
  if (lowest < 0 || static_cast<uint64_t>(highest) >= length_of(w.source) / static_cast<uint64_t>(element_bytes(w)))
    throw error("file.tensor-bounds", "a tensor's strides reach outside its storage");
}

void gather_rows(const Weight& w, int64_t first, int64_t rows, std::byte* out) {
  const int64_t row = row_elements(w), bytes = element_bytes(w);
  std::byte* at = out;
  if (row == 0 || rows == 0) return;
  const std::byte* made = out;
  if (w.strides.empty()) {
    made = w.source.data() + first * row * bytes;
    if (!w.scale) std::memcpy(out, made, static_cast<size_t>(rows * row * bytes));
  } else if (bytes == 1) gather<uint8_t>(w, 0, w.start, first, rows, at);
  else if (bytes == 2) gather<uint16_t>(w, 0, w.start, first, rows, at);
  else if (bytes == 4) gather<uint32_t>(w, 0, w.start, first, rows, at);
  else if (bytes == 8) gather<uint64_t>(w, 0, w.start, first, rows, at);
  else gather<Wide>(w, 0, w.start, first, rows, at);
  if (!w.scale) return;
  const auto factors = std::span<const double>(*w.scale).subspan(static_cast<size_t>(first), static_cast<size_t>(rows));
  if (w.dtype == DType::f32) multiply<float>(made, out, row, factors);
  else multiply<double>(made, out, row, factors);
}

namespace {
// What is read of the file is let go of again.
void stream_from_file(const Weight& w, const std::function<void(std::span<const std::byte>)>& sink) {
  constexpr uint64_t piece_bytes = uint64_t{8} << 20;
  if (w.is_dense()) {
    const uint64_t all = w.byte_size();
    for (uint64_t at = 0; at < all; at += piece_bytes) {
      checkpoint();
      const Bytes piece = w.source.slice(at, std::min(piece_bytes, all - at));
      sink(piece.span());
    }
    return;
  }
  Weight here = w;
  here.source.data();
  stream_dense(here, sink);
}
}  // namespace

void stream_dense(const Weight& w, const std::function<void(std::span<const std::byte>)>& sink) {
  invariant(!w.strings && w.source_dtype == w.dtype, "a weight is converted by kernels before it becomes dense");
  invariant(w.is_dense() || !is_sub_byte(w.dtype), "strided weights have whole bytes");
  check_inside(w);
  if (!in_memory(w.source)) return stream_from_file(w, sink);
  if (w.is_dense()) return sink(w.source.span().first(static_cast<size_t>(w.byte_size())));
  const int64_t row_bytes = row_elements(w) * element_bytes(w), rows = w.shape.empty() ? 1 : w.shape[0];
  if (row_bytes == 0 || rows == 0) return;
  int64_t step = std::clamp<int64_t>(tile_bytes / row_bytes, 1, rows);
  if (step > line && step < rows) step -= step % line;
  const auto tile = std::make_unique_for_overwrite<std::byte[]>(static_cast<size_t>(step * row_bytes));
  for (int64_t first = 0; first < rows; first += step) {
    checkpoint();
    const int64_t n = std::min(step, rows - first);
    gather_rows(w, first, n, tile.get());
    sink({tile.get(), static_cast<size_t>(n * row_bytes)});
  }
}

}  // namespace cameo::ir
