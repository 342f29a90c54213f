#include "support/content_hash.h"

#include <algorithm>
#include <cstring>

#include "support/endian.h"

namespace cameo::support {

namespace {

// Both halves of the 128-bit product, folded: every bit of the factors reaches every bit of the result.
uint64_t folded_product(uint64_t a, uint64_t b) {
#if defined(__SIZEOF_INT128__) && !defined(__wasm__)  // there a wide product is a call
  __extension__ typedef unsigned __int128 wide;
  const wide p = static_cast<wide>(a) * b;
  return static_cast<uint64_t>(p) ^ static_cast<uint64_t>(p >> 64);
#else
  const uint64_t al = a & 0xffffffffu, ah = a >> 32, bl = b & 0xffffffffu, bh = b >> 32;
  const uint64_t low = al * bl, mid1 = ah * bl, mid2 = al * bh;
  const uint64_t carry = ((low >> 32) + (mid1 & 0xffffffffu) + (mid2 & 0xffffffffu)) >> 32;
  return (a * b) ^ (ah * bh + (mid1 >> 32) + (mid2 >> 32) + carry);
#endif
}

constexpr uint64_t secrets[4] = {0xa0761d6478bd642fu, 0xe7037ed1a0b428dbu, 0x8ebc6af09c88c6e3u, 0x589965cc75374cc3u};

}  // namespace

// A lane goes through its own product each time, so that the order of stripes matters.
void ContentHash::take(const std::byte* p, size_t count) {
  auto lanes = lanes_;  // in registers: for the compiler, the bytes might alias the members
  for (; count > 0; --count, p += stripe)
    for (size_t i = 0; i < lanes.size(); ++i)
      lanes[i] =
          folded_product(load_le<uint64_t>(p + 16 * i) ^ secrets[i], load_le<uint64_t>(p + 16 * i + 8) ^ lanes[i]) +
          secrets[i];
  lanes_ = lanes;
}

void ContentHash::add(std::span<const std::byte> data) {
  length_ += data.size();
  if (rest_size_ > 0) {
    const size_t n = std::min(stripe - rest_size_, data.size());
    std::memcpy(rest_.data() + rest_size_, data.data(), n);
    rest_size_ += n;
    data = data.subspan(n);
    if (rest_size_ < stripe) return;
    take(rest_.data(), 1);
    rest_size_ = 0;
  }
  const size_t whole = data.size() / stripe;
  take(data.data(), whole);
  data = data.subspan(whole * stripe);
  if (!data.empty()) std::memcpy(rest_.data(), data.data(), data.size());
  rest_size_ = data.size();
}

uint64_t ContentHash::value() const {
  ContentHash end = *this;
  std::fill(end.rest_.begin() + static_cast<ptrdiff_t>(end.rest_size_), end.rest_.end(), std::byte{});
  end.take(end.rest_.data(), 1);
  uint64_t out = folded_product(length_ ^ secrets[0], secrets[1]);
  for (const uint64_t lane : end.lanes_) out = folded_product(out ^ lane, secrets[2] ^ lane >> 32) + lane;
  return folded_product(out ^ secrets[3], secrets[0]);
}

std::string hex16(uint64_t v) {
  std::string out(16, '0');
  for (size_t i = 16; i-- > 0; v >>= 4) out[i] = "0123456789abcdef"[v & 15];
  return out;
}

}  // namespace cameo::support
