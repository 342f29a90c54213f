// A fast 64-bit hash of long contents, the same on every machine. It is not cryptographic: an attacker can find two
// contents with the same hash.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "support/layers.h"

namespace cameo::support {

class ContentHash {
 public:
  void add(std::span<const std::byte> data);  // parts may be cut anywhere
  uint64_t value() const;                     // of all that was added so far

 private:
  static constexpr size_t stripe = 64;
  void take(const std::byte* whole_stripes, size_t count);

  std::array<uint64_t, 4> lanes_{0x2d358dccaa6c78a5u, 0x8bb84b93962eacc9u, 0x4b33a62ed433d4a3u, 0x4d5a2da51de1aa47u};
  std::array<std::byte, stripe> rest_{};
  size_t rest_size_ = 0;
  uint64_t length_ = 0;
};

std::string hex16(uint64_t v);  // 16 digits

}  // namespace cameo::support
