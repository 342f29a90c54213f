#include "engine/simd/copy.h"

#include <algorithm>
#include <cstring>

#include "engine/parallel.h"
#include "engine/simd/transpose_bytes.h"

namespace cameo::engine {

std::vector<int64_t> dense_strides(const std::vector<int64_t>& dims) {
  std::vector<int64_t> out(dims.size());
  int64_t at = 1;
  for (size_t i = dims.size(); i-- > 0; at *= dims[i]) out[i] = at;
  return out;
}

void StridedCopy::simplify() {
  StridedCopy s;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 1) continue;
    if (!s.dims.empty() && s.from.back() == from[i] * dims[i] && s.to.back() == to[i] * dims[i]) {
      s.dims.back() *= dims[i];
      s.from.back() = from[i];
      s.to.back() = to[i];
    } else {
      s.dims.push_back(dims[i]);
      s.from.push_back(from[i]);
      s.to.push_back(to[i]);
    }
  }
  while (s.dims.size() < 2) {
    s.dims.insert(s.dims.begin(), 1);
    s.from.insert(s.from.begin(), 0);
    s.to.insert(s.to.begin(), 0);
    if (s.dims.size() == 1) s.from[0] = s.to[0] = 1;
  }
  dims = std::move(s.dims), from = std::move(s.from), to = std::move(s.to);
}

namespace {

uint64_t reach(const std::vector<int64_t>& dims, const std::vector<int64_t>& strides, int64_t start) {
  int64_t first = start, last = start;
  for (size_t i = 0; i < dims.size(); ++i) (strides[i] < 0 ? first : last) += (dims[i] - 1) * strides[i];
  return first < 0 ? UINT64_MAX / sizeof(uint64_t) / 2 : static_cast<uint64_t>(last) + 1;
}

template <class T>
void tile(const T* source, T* target, int64_t rows, int64_t columns, int64_t row_from, int64_t column_from,
          int64_t row_to, int64_t column_to) {
  if (column_from == 1 && column_to == 1) {
    const size_t bytes = static_cast<size_t>(columns) * sizeof(T);
    if (bytes % 64 == 0 && bytes <= 2048) {  // channels of a pixel: shorter than a call of memcpy is worth
      for (int64_t r = 0; r < rows; ++r) {
        const auto* from = reinterpret_cast<const std::byte*>(source + r * row_from);
        auto* to = reinterpret_cast<std::byte*>(target + r * row_to);
        for (size_t i = 0; i < bytes; i += 64) __builtin_memcpy(to + i, from + i, 64);
      }
      return;
    }
    for (int64_t r = 0; r < rows; ++r)
      std::memcpy(target + r * row_to, source + r * row_from, static_cast<size_t>(columns) * sizeof(T));
    return;
  }
  constexpr int64_t side = 16;  // both sides of a transposition stay in cache
  for (int64_t r0 = 0; r0 < rows; r0 += side)
    for (int64_t c0 = 0; c0 < columns; c0 += side)
      for (int64_t r = r0; r < std::min(rows, r0 + side); ++r)
        for (int64_t c = c0; c < std::min(columns, c0 + side); ++c)
          target[r * row_to + c * column_to] = source[r * row_from + c * column_from];
}

// The innermost axis is the target's; beside it goes the axis along which the source is dense, for whole cache lines.
template <class T>
void copy(const StridedCopy& s, const T* source, T* target) {
  const size_t last = s.dims.size() - 1;
  size_t beside = last - 1;
  if (s.from[last] != 1)
    for (size_t i = 0; i < last; ++i)
      if (s.from[i] == 1) beside = i;
  std::vector<size_t> outer;
  int64_t tiles = 1;
  for (size_t i = 0; i < last; ++i)
    if (i != beside) {
      outer.push_back(i);
      tiles *= s.dims[i];
    }
  const int64_t rows = s.dims[beside], columns = s.dims[last];
  // Few large tiles are cut along their rows, so that every thread has some.
  const int64_t cuts = tiles >= 8 || rows < 64 ? 1 : 8, piece = (rows + cuts - 1) / cuts;
  parallel(tiles * cuts, std::max<int64_t>(1, 32768 / std::max<int64_t>(1, piece * columns)),
           [&](int64_t first, int64_t end) {
             for (int64_t t = first; t < end; ++t) {
               int64_t left = t / cuts, a = s.start_from, b = s.start_to;
               for (size_t k = outer.size(); k-- > 0; left /= s.dims[outer[k]]) {
                 a += left % s.dims[outer[k]] * s.from[outer[k]];
                 b += left % s.dims[outer[k]] * s.to[outer[k]];
               }
               const int64_t row = t % cuts * piece, count = std::min(piece, rows - row);
               if (count > 0)
                 tile(source + a + row * s.from[beside], target + b + row * s.to[beside], count, columns,
                      s.from[beside], s.from[last], s.to[beside], s.to[last]);
             }
           });
}

struct Sixteen {
  uint64_t low, high;
};

}  // namespace

uint64_t StridedCopy::reads() const { return reach(dims, from, start_from); }
uint64_t StridedCopy::writes() const { return reach(dims, to, start_to); }

namespace {

// A matrix of bytes that changes places: the copy reads along one of the last two axes and writes along the other.
bool turns_bytes(const StridedCopy& c) {
  const size_t n = c.dims.size();
  return (n == 2 || (n == 3 && c.dims[0] < 65536)) && c.from[n - 2] == 1 && c.to[n - 1] == 1 && c.from[n - 1] >= 16 &&
         c.to[n - 2] >= 3;
}

void turn_bytes(const StridedCopy& c, const uint8_t* source, uint8_t* target) {
  const size_t n = c.dims.size();
  const int64_t rows = c.dims[n - 1], columns = c.dims[n - 2], x_row = c.from[n - 1], y_row = c.to[n - 2];
  const int64_t parts = n == 3 ? c.dims[0] : 1;
  for (int64_t p = 0; p < parts; ++p) {
    const uint8_t* x = source + c.start_from + (n == 3 ? p * c.from[0] : 0);
    uint8_t* y = target + c.start_to + (n == 3 ? p * c.to[0] : 0);
    parallel((columns + 255) / 256, std::max<int64_t>(1, 128 / rows), [&](int64_t first, int64_t last) {
      const int64_t from = first * 256, count = std::min(last * 256, columns) - from;
      transpose_block(x + from, x_row, y + from * y_row, y_row, rows, count);
    });
  }
}

}  // namespace

void StridedCopy::run(size_t element_bytes, const std::byte* source, std::byte* target) const {
  if (element_bytes == 1 && turns_bytes(*this))
    return turn_bytes(*this, reinterpret_cast<const uint8_t*>(source), reinterpret_cast<uint8_t*>(target));
  const auto as = [&](auto one) {
    copy(*this, reinterpret_cast<const decltype(one)*>(source), reinterpret_cast<decltype(one)*>(target));
  };
  switch (element_bytes) {
    case 1: return as(uint8_t{});
    case 2: return as(uint16_t{});
    case 4: return as(uint32_t{});
    case 8: return as(uint64_t{});
    default: return as(Sixteen{});
  }
}

}  // namespace cameo::engine
