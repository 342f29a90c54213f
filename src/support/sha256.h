// SHA-256, for saying which file something was made from.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "support/layers.h"

namespace cameo::support {

std::string sha256_hex(std::span<const std::byte> data);
// Of the bytes of both, one after the other.
std::string sha256_hex(std::span<const std::byte> first, std::span<const std::byte> second);

}  // namespace cameo::support
