#include "engine/simd/byte_matrix.h"

#include <algorithm>
#include <cstring>

#include "engine/simd/integer_rows.h"
#include "engine/simd/quantize_rows.h"

namespace cameo::engine {

namespace {

constexpr int64_t panel_registers = 4;

int64_t multiple(int64_t n, int64_t of) { return (n + of - 1) / of * of; }

}  // namespace

ByteMatrix::ByteMatrix(int64_t depth, int64_t columns, bool vnni)
    : depth_(depth), columns_(columns), vnni_(vnni), row_(multiple(depth, 4)), stride_(multiple(columns, vnni_lanes)) {
  if (!vnni_) return;
  const int64_t registers = stride_ / vnni_lanes;
  for (int64_t at = 0; at < registers; at += panel_registers) {
    const int64_t width = std::min(panel_registers, registers - at);
    panels_.push_back({at * vnni_lanes, width, at * vnni_lanes * row_});
  }
}

int64_t ByteMatrix::panels() const { return vnni_ ? static_cast<int64_t>(panels_.size()) : stride_ / panel_columns; }

// With VNNI the sums of the columns follow the panels.
uint64_t ByteMatrix::bytes() const {
  return static_cast<uint64_t>(vnni_ ? stride_ * row_ + stride_ * 4 : stride_ * row_ * 2);
}

void ByteMatrix::pack(const int8_t* levels, std::byte* to) const {
  std::memset(to, 0, bytes());
  if (!vnni_) {
    auto* out = reinterpret_cast<int16_t*>(to);
    for (int64_t k = 0; k < depth_; ++k)
      for (int64_t n = 0; n < columns_; ++n)
        out[n / panel_columns * panel_size(row_ / 2) + (k / 2 * panel_columns + n % panel_columns) * 2 + k % 2] =
            levels[k * columns_ + n];
    return;
  }
  auto* sums = reinterpret_cast<int32_t*>(to + stride_ * row_);
  for (const VnniPanel& p : panels_) {
    auto* out = reinterpret_cast<int8_t*>(to) + p.offset;
    const int64_t width = p.registers * vnni_lanes;
    for (int64_t k = 0; k < depth_; ++k)
      for (int64_t n = 0; n < std::min(width, columns_ - p.first); ++n) {
        const int8_t level = levels[k * columns_ + p.first + n];
        out[(k / 4 * width + n) * 4 + k % 4] = level;
        sums[p.first + n] += level;
      }
  }
}

void ByteMatrix::products(const uint8_t* rows, int64_t count, int32_t zero, const std::byte* packed, int64_t first,
                          int64_t last, int32_t* sums) const {
  if (!vnni_) {
    std::vector<int16_t> centred(static_cast<size_t>(row_), 0);
    for (int64_t i = 0; i < count; ++i) {
      centre_row(rows + i * row_, centred.data(), depth_, zero);
      for (int64_t p = first; p < last; ++p)
        panel_product(centred.data(), row_, 1, reinterpret_cast<const int16_t*>(packed) + p * panel_size(row_ / 2),
                      row_ / 2, sums + i * stride_ + p * panel_columns, stride_);
    }
    return;
  }
  const int64_t from = first * panel_registers * vnni_lanes,
                to = std::min(last * panel_registers * vnni_lanes, stride_);
  std::vector<int32_t> start(static_cast<size_t>(stride_));
  add_multiple_row(start.data() + from, reinterpret_cast<const int32_t*>(packed + stride_ * row_) + from, -zero,
                   to - from);
  const int64_t begin = 0;
  const uint8_t* at[vnni_rows_max];
  for (int64_t i = 0; i < vnni_rows_max; ++i) at[i] = rows + std::min(i, count - 1) * row_;
  for (int64_t p = first; p < last; ++p)
    vnni_products(at, count, {{&begin, 1}, row_ / 4}, panels_[static_cast<size_t>(p)],
                  reinterpret_cast<const int8_t*>(packed), start.data(), sums, stride_);
}

}  // namespace cameo::engine
