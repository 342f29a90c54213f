// Products of rows of bytes: both forms beside sums that are added up one by one.
#include "engine/simd/byte_matrix.h"

#include <gtest/gtest.h>

#include <random>

namespace cameo::tests {
namespace {

struct Size {
  int64_t depth, columns, rows;
};

void compare(const Size& s, bool vnni) {
  std::mt19937 random(static_cast<unsigned>(s.depth * 100 + s.columns));
  const engine::ByteMatrix m(s.depth, s.columns, vnni);
  std::vector<int8_t> levels(static_cast<size_t>(s.depth * s.columns));
  for (int8_t& v : levels) v = static_cast<int8_t>(static_cast<int>(random() % 256) - 128);
  std::vector<uint8_t> rows(static_cast<size_t>(s.rows * m.row_bytes()), 0);
  for (int64_t i = 0; i < s.rows; ++i)
    for (int64_t k = 0; k < s.depth; ++k)
      rows[static_cast<size_t>(i * m.row_bytes() + k)] = static_cast<uint8_t>(random());
  std::vector<std::byte> packed(m.bytes());
  m.pack(levels.data(), packed.data());
  std::vector<int32_t> sums(static_cast<size_t>(m.stride() * (s.rows == 1 ? 1 : engine::vnni_rows_max)));
  const int32_t zero = 113;
  for (int64_t p = 0; p < m.panels(); ++p) m.products(rows.data(), s.rows, zero, packed.data(), p, p + 1, sums.data());
  for (int64_t i = 0; i < s.rows; ++i)
    for (int64_t n = 0; n < s.columns; ++n) {
      int32_t sum = 0;
      for (int64_t k = 0; k < s.depth; ++k)
        sum +=
            (rows[static_cast<size_t>(i * m.row_bytes() + k)] - zero) * levels[static_cast<size_t>(k * s.columns + n)];
      ASSERT_EQ(sums[static_cast<size_t>(i * m.stride() + n)], sum) << i << ", " << n;
    }
}

constexpr Size sizes[] = {{1, 1, 1}, {4, 16, 1}, {7, 20, 3}, {33, 132, 1}, {16, 65, 48}, {12, 200, 13}};

TEST(ByteMatrix, SumsAreExactOnAnyProcessor) {
  for (const Size& s : sizes) compare(s, false);
}
TEST(ByteMatrix, SumsAreExactWithVnni) {
  if (!engine::has_vnni()) GTEST_SKIP() << "the processor has no AVX-512 VNNI";
  for (const Size& s : sizes) compare(s, true);
}

}  // namespace
}  // namespace cameo::tests
