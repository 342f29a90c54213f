// What zip needs of zlib, and a replacement for builds without it (CAMEO_NO_ZLIB: WebAssembly, 32 bits).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "support/layers.h"

namespace cameo::formats {

// Unpacks raw deflate data (RFC 1951). Fills `out` exactly and uses all of `in`; false when the data is broken, or
// makes more or less than that.
bool inflate_into(std::span<const std::byte> in, std::span<std::byte> out);

// The CRC-32 of zip. `crc` is that of the bytes before; 0 to begin with.
uint32_t crc32_of(std::span<const std::byte> data, uint32_t crc = 0);

// The same without zlib, slower. Always built, so that it is tested against zlib.
namespace portable {
bool inflate_into(std::span<const std::byte> in, std::span<std::byte> out);
uint32_t crc32_of(std::span<const std::byte> data, uint32_t crc = 0);
}  // namespace portable

}  // namespace cameo::formats
