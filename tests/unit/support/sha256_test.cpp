#include "support/sha256.h"

#include <gtest/gtest.h>

#include <string>

namespace cameo::tests {
namespace {

std::string hex(std::string_view text) { return sha256_hex(std::as_bytes(std::span(text.data(), text.size()))); }

// FIPS 180-4's own examples, and lengths around the padding's edges.
TEST(Sha256, KnownDigests) {
  EXPECT_EQ(hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hex(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, OfTwoPartsIsThatOfTheWhole) {
  std::string text(300, 'a');
  for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 7);
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  for (const size_t cut : {0, 1, 63, 64, 65, 128, 200, 299, 300})
    EXPECT_EQ(sha256_hex(bytes.first(cut), bytes.subspan(cut)), sha256_hex(bytes)) << cut;
}

}  // namespace
}  // namespace cameo::tests
