// SHA-256, for saying which file something was made from.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace cameo {

std::string sha256_hex(std::span<const std::byte> data);

}  // namespace cameo
