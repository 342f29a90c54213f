#include "support/sha256.h"

#include <algorithm>
#include <bit>

#include "support/budget.h"
#include "support/sha256_blocks.h"

namespace cameo::support {

using sha256::State;

namespace sha256 {
const std::array<uint32_t, 64> round_constants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
}  // namespace sha256

namespace {

void block(State& state, const std::byte* p) {
  uint32_t w[64];
  for (int i = 0; i < 16; ++i) {
    w[i] = 0;
    for (int b = 0; b < 4; ++b) w[i] = w[i] << 8 | std::to_integer<uint32_t>(p[4 * i + b]);
  }
  for (int i = 16; i < 64; ++i) {
    const uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ w[i - 15] >> 3;
    const uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ w[i - 2] >> 10;
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  State v = state;
  for (int i = 0; i < 64; ++i) {
    const uint32_t s1 = std::rotr(v[4], 6) ^ std::rotr(v[4], 11) ^ std::rotr(v[4], 25);
    const uint32_t t1 =
        v[7] + s1 + ((v[4] & v[5]) ^ (~v[4] & v[6])) + sha256::round_constants[static_cast<size_t>(i)] + w[i];
    const uint32_t s0 = std::rotr(v[0], 2) ^ std::rotr(v[0], 13) ^ std::rotr(v[0], 22);
    const uint32_t t2 = s0 + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
    v = {t1 + t2, v[0], v[1], v[2], v[3] + t1, v[4], v[5], v[6]};
  }
  for (size_t i = 0; i < 8; ++i) state[i] += v[i];
}

void blocks(State& state, const std::byte* data, size_t count) {
  if (sha256::blocks_by_instruction(state, data, count)) return;
  for (size_t i = 0; i < count; ++i) block(state, data + 64 * i);
}

class Digest {
 public:
  void add(std::span<const std::byte> data) {
    total_ += data.size();
    if (held_ > 0) {
      const size_t n = std::min(data.size(), size_t{64} - held_);
      std::copy_n(data.begin(), n, tail_.begin() + static_cast<std::ptrdiff_t>(held_));
      held_ += n;
      data = data.subspan(n);
      if (held_ < 64) return;
      blocks(state_, tail_.data(), 1);
      held_ = 0;
    }
    constexpr size_t at_once = size_t{16} << 20;  // some milliseconds
    while (data.size() >= 64) {
      checkpoint();
      const size_t whole = std::min(data.size(), at_once) / 64;
      blocks(state_, data.data(), whole);
      data = data.subspan(whole * 64);
    }
    std::copy(data.begin(), data.end(), tail_.begin());
    held_ = data.size();
  }

  std::string hex() {
    std::fill(tail_.begin() + static_cast<std::ptrdiff_t>(held_), tail_.end(), std::byte{0});
    tail_[held_] = std::byte{0x80};
    const size_t size = held_ < 56 ? 64 : 128;
    for (size_t i = 0; i < 8; ++i) tail_[size - 1 - i] = static_cast<std::byte>(total_ * 8 >> (8 * i));
    blocks(state_, tail_.data(), size / 64);
    std::string out;
    for (const uint32_t word : state_)
      for (int shift = 28; shift >= 0; shift -= 4) out += "0123456789abcdef"[word >> shift & 15];
    return out;
  }

 private:
  State state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, 128> tail_{};
  size_t held_ = 0;  // of tail_: less than a block
  uint64_t total_ = 0;
};

}  // namespace

std::string sha256_hex(std::span<const std::byte> data) { return sha256_hex(data, {}); }

std::string sha256_hex(std::span<const std::byte> first, std::span<const std::byte> second) {
  Digest digest;
  digest.add(first);
  digest.add(second);
  return digest.hex();
}

}  // namespace cameo::support
