#include "support/content_hash.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "support/random.h"

namespace cameo::tests {
namespace {

uint64_t hash_of(std::string_view text, size_t step) {
  ContentHash h;
  const auto bytes = std::as_bytes(std::span(text));
  for (size_t at = 0; at < bytes.size(); at += step) h.add(bytes.subspan(at, std::min(step, bytes.size() - at)));
  return h.value();
}

std::string noise(size_t length) {
  Random random{7};
  std::string out;
  for (size_t i = 0; i < length; ++i) out += static_cast<char>(random.next());
  return out;
}

TEST(ContentHash, DoesNotDependOnHowThePartsAreCut) {
  const std::string text = noise(1000);
  for (const size_t length : {0, 1, 63, 64, 65, 200, 1000})
    for (const size_t step : {1, 7, 64, 100, 1000})
      EXPECT_EQ(hash_of(text.substr(0, length), step), hash_of(text.substr(0, length), 1000));
}

TEST(ContentHash, EveryBitAndEveryPlaceCounts) {
  const std::string text = noise(400);
  std::set<uint64_t> seen{hash_of(text, 400)};
  for (size_t bit = 0; bit < text.size() * 8; ++bit) {
    std::string other = text;
    other[bit / 8] = static_cast<char>(other[bit / 8] ^ 1 << bit % 8);
    EXPECT_TRUE(seen.insert(hash_of(other, 400)).second) << bit;
  }
  for (size_t length = 0; length < 300; ++length)
    EXPECT_TRUE(seen.insert(hash_of(std::string(length, '\0'), 64)).second) << length;
  const std::string turned = text.substr(64, 64) + text.substr(0, 64) + text.substr(128);
  EXPECT_TRUE(seen.insert(hash_of(turned, 400)).second) << "stripes in another order";
}

// Names of files that are already out there depend on it.
TEST(ContentHash, IsTheSameEverywhere) {
  EXPECT_EQ(hex16(hash_of("", 1)), "d908452d560062c4");
  EXPECT_EQ(hex16(hash_of(noise(1000), 1000)), "e912cf198a74c0c9");
  EXPECT_EQ(hex16(0x12ab), "00000000000012ab");
}

}  // namespace
}  // namespace cameo::tests
