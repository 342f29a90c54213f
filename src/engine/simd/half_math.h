// One number between f32 and 16 bits, without branches, for loops that become vector code.
#pragma once

#include "engine/simd/math.h"

namespace cameo::engine {

CAMEO_INLINE float f16_to_f32(uint16_t h) {
  const uint32_t magnitude = static_cast<uint32_t>(h & 0x7fffu) << 13, sign = static_cast<uint32_t>(h & 0x8000u) << 16;
  // The exponent moves by 112; as a product, so that numbers without a leading one come out right.
  const uint32_t moved = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) * std::bit_cast<float>(0x77800000u));
  return std::bit_cast<float>(moved | sign | (magnitude >= 0x0f800000u ? 0x7f800000u : 0u));
}

CAMEO_INLINE uint16_t f32_to_f16(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x), u = bits & 0x7fffffffu, sign = (bits >> 16) & 0x8000u;
  const uint32_t normal = (u + 0xc8000fffu + ((u >> 13) & 1u)) >> 13;
  // Adding a half leaves the bits of a small number where f16 wants them, rounded.
  const uint32_t small = std::bit_cast<uint32_t>(std::bit_cast<float>(u) + 0.5f) - 0x3f000000u;
  const uint32_t large = u > 0x7f800000u ? 0x7e00u : 0x7c00u;
  const uint32_t finite = u < 0x38800000u ? small : normal;
  return static_cast<uint16_t>((u >= 0x47800000u ? large : finite) | sign);
}

CAMEO_INLINE float bf16_to_f32(uint16_t h) { return std::bit_cast<float>(static_cast<uint32_t>(h) << 16); }

CAMEO_INLINE uint16_t f32_to_bf16(float x) {
  const uint32_t u = std::bit_cast<uint32_t>(x), rounded = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
  return static_cast<uint16_t>((u & 0x7fffffffu) > 0x7f800000u ? (u >> 16) | 0x40u : rounded);
}

}  // namespace cameo::engine
