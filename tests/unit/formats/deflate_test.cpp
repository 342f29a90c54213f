#include "formats/deflate.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#ifndef CAMEO_NO_ZLIB
#include <zlib.h>
#endif

namespace cameo::tests {

static std::span<const std::byte> bytes_of(std::string_view s) { return std::as_bytes(std::span(s)); }

static bool unpacks(std::string_view packed, std::string_view expected, size_t room) {
  std::vector<std::byte> out(room);
  return portable::inflate_into(bytes_of(packed), out) &&
         std::string_view(reinterpret_cast<const char*>(out.data()), out.size()) == expected;
}

TEST(Deflate, UnpacksStoredAndFixedBlocks) {
  using namespace std::string_view_literals;
  EXPECT_TRUE(unpacks("\x01\x02\x00\xfd\xffhi"sv, "hi", 2));
  EXPECT_TRUE(unpacks("\x00\x01\x00\xfe\xffh\x01\x01\x00\xfe\xffi"sv, "hi", 2));
  EXPECT_TRUE(unpacks("\x4b\x4c\x84\x01\x00"sv, "aaaaaaaaaa", 10));
  EXPECT_TRUE(unpacks("\x03\x00"sv, "", 0));
}

TEST(Deflate, RefusesWhatIsBrokenOrOfAnotherSize) {
  using namespace std::string_view_literals;
  for (const size_t room : {9u, 11u}) EXPECT_FALSE(unpacks("\x4b\x4c\x84\x01\x00"sv, "aaaaaaaaaa", room));
  EXPECT_FALSE(unpacks("\x4b\x4c\x84\x01\x00x"sv, "aaaaaaaaaa", 10)) << "bytes are left over";
  EXPECT_FALSE(unpacks("\x4b\x4c\x84\x01"sv, "aaaaaaaaaa", 10)) << "cut off";
  EXPECT_FALSE(unpacks("\x01\x02\x00\xfc\xffhi"sv, "hi", 2)) << "the complement is wrong";
  EXPECT_FALSE(unpacks("\x07"sv, "", 0)) << "there is no block type 3";
  EXPECT_FALSE(unpacks("\x03\x02"sv, "aaa", 3)) << "a distance before the beginning";
  EXPECT_FALSE(unpacks(""sv, "", 0));
}

TEST(Deflate, ChecksumOfTheStandardExample) {
  EXPECT_EQ(portable::crc32_of(bytes_of("123456789")), 0xcbf43926u);
  EXPECT_EQ(crc32_of(bytes_of("123456789")), 0xcbf43926u);
  EXPECT_EQ(portable::crc32_of(bytes_of("6789"), portable::crc32_of(bytes_of("12345"))), 0xcbf43926u);
}

#ifndef CAMEO_NO_ZLIB
// Text with repetitions near and far, so that all code lengths and distances come up.
static std::string sample(size_t size, uint32_t seed, uint32_t letters) {
  std::string s;
  for (uint32_t x = seed; s.size() < size;) {
    x = x * 1664525u + 1013904223u;
    if (x >> 28 == 0 && s.size() > 40) s += s.substr((x >> 8) % (s.size() - 30), 5 + x % 25);
    else s += static_cast<char>('!' + (x >> 16) % letters);
  }
  return s.substr(0, size);
}

static std::string packed(const std::string& text, int level, int strategy) {
  z_stream z{};
  deflateInit2(&z, level, Z_DEFLATED, -MAX_WBITS, 8, strategy);
  std::string out(deflateBound(&z, static_cast<uLong>(text.size())), '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

TEST(Deflate, PortableAgreesWithZlib) {
  for (const size_t size : {0, 1, 300, 70000, 200000})
    for (const uint32_t letters : {1u, 2u, 90u})
      for (const int level : {0, 1, 9})
        for (const int strategy : {Z_DEFAULT_STRATEGY, Z_HUFFMAN_ONLY, Z_FIXED}) {
          const std::string text = sample(size, 7, letters);
          EXPECT_TRUE(unpacks(packed(text, level, strategy), text, size)) << size << " " << letters << " " << level;
        }
}

TEST(Deflate, PortableAgreesWithZlibOnBrokenData) {
  const std::string text = sample(1500, 3, 20), good = packed(text, 9, Z_DEFAULT_STRATEGY);
  std::vector<std::byte> ours(text.size()), theirs(text.size());
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    const bool accepted = inflate_into(bytes_of(bad), theirs);
    ASSERT_EQ(portable::inflate_into(bytes_of(bad), ours), accepted) << bit;
    if (accepted) {
      ASSERT_EQ(ours, theirs) << bit;
    }
  }
  for (size_t n = 0; n < good.size(); ++n) ASSERT_FALSE(portable::inflate_into(bytes_of(good).first(n), ours)) << n;
}
#endif

}  // namespace cameo::tests
