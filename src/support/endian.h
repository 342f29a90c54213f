// Numbers as bits: little-endian in files, whatever the machine's own order and alignment.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "support/layers.h"

namespace cameo::support {

// std::bit_cast, which the C++ library of older Emscripten versions lacks.
template <class To, class From>
constexpr To bit_cast(const From& v) {
  return __builtin_bit_cast(To, v);
}

// Precondition: sizeof(T) bytes are readable at `p`.
template <std::unsigned_integral T>
T load_le(const void* p) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  T v;
  std::memcpy(&v, p, sizeof v);  // one load; g++ 12 does not make one of the loop
  return v;
#else
  const auto* b = static_cast<const unsigned char*>(p);
  uint64_t v = 0;
  for (size_t i = 0; i < sizeof(T); ++i) v |= static_cast<uint64_t>(b[i]) << (8 * i);
  return static_cast<T>(v);
#endif
}

template <std::unsigned_integral T>
void append_le(std::string& out, T v) {
  for (size_t i = 0; i < sizeof(T); ++i) out += static_cast<char>(static_cast<uint64_t>(v) >> (8 * i) & 0xff);
}

}  // namespace cameo::support
