#include "ir/element_text.h"

#include <gtest/gtest.h>

namespace cameo::tests {

// Every code of every small type survives the way to text and back, in both styles.
TEST(ElementText, EveryCodeOfSmallTypes) {
  for (const DTypeInfo& row : all_dtypes()) {
    if (row.bits == 0 || row.bits > 16) continue;
    for (uint32_t code = 0; code < (1u << row.bits); ++code) {
      const std::byte bytes[] = {static_cast<std::byte>(code & 0xff), static_cast<std::byte>(code >> 8)};
      const Tensor t(row.dtype, {}, Bytes::own(std::vector<std::byte>(bytes, bytes + (row.bits > 8 ? 2 : 1))));
      for (const auto style : {ElementStyle::readable, ElementStyle::codes}) {
        std::string text;
        append_element(text, t, 0, style);
        ASSERT_EQ(parse_element(row.dtype, text), std::optional<uint64_t>(code)) << row.name << " " << text;
      }
    }
  }
}

TEST(ElementText, WideTypes) {
  const uint32_t singles[] = {0,           0x80000000u, 0x3f800000u, 0x7f800000u, 0xff800000u,
                              0x7fc00000u, 0xffc00000u, 0x7f800001u, 1,           0x7f7fffffu};
  const Tensor t(DType::f32, {10},
                 Bytes::own(std::vector<std::byte>(reinterpret_cast<const std::byte*>(singles),
                                                   reinterpret_cast<const std::byte*>(singles + 10))));
  for (int64_t i = 0; i < 10; ++i) {
    std::string text;
    append_element(text, t, i);
    EXPECT_EQ(parse_element(DType::f32, text), std::optional<uint64_t>(singles[i])) << text;
  }
  EXPECT_EQ(parse_element(DType::i64, "-9223372036854775808"), std::optional<uint64_t>(uint64_t{1} << 63));
  EXPECT_EQ(parse_element(DType::i8, "128"), std::nullopt);
  EXPECT_EQ(parse_element(DType::u8, "-1"), std::nullopt);
  EXPECT_EQ(parse_element(DType::f32, "1.0x"), std::nullopt);
  EXPECT_EQ(parse_element(DType::f64, "1e999"), std::optional<uint64_t>(0x7ff0000000000000u));
}

}  // namespace cameo::tests
