// The inner loop of SHA-256: whole blocks of 64 bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "support/layers.h"

namespace cameo::support::sha256 {

using State = std::array<uint32_t, 8>;

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2).
extern const std::array<uint32_t, 64> round_constants;

// With the processor's own instructions; false, and nothing done, where it has none.
bool blocks_by_instruction(State& state, const std::byte* data, size_t count);

}  // namespace cameo::support::sha256
