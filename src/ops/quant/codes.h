// Quantised elements of 2, 4 or 8 bits, packed low bits first.
#pragma once

#include "ir/tensor.h"

namespace cameo::ops {

inline constexpr int64_t code_bits_unless_given = 4;  // com.microsoft's `bits`

class Codes {
 public:
  // Precondition: bits is 2, 4 or 8. Signed codes are two's complement.
  Codes(const Tensor& packed, int64_t bits, bool is_signed)
      : keep_(packed), bytes_(packed.bytes().data()), bits_(static_cast<uint32_t>(bits)), is_signed_(is_signed) {}

  int32_t operator[](int64_t i) const {  // precondition: below 8 / bits times the bytes
    const auto bit = static_cast<uint64_t>(i) * bits_;
    const uint32_t code = std::to_integer<uint32_t>(bytes_[bit / 8]) >> (bit % 8) & mask();
    return static_cast<int32_t>(code) - (is_signed_ && code > mask() / 2 ? static_cast<int32_t>(mask()) + 1 : 0);
  }

 private:
  uint32_t mask() const { return (1u << bits_) - 1; }

  Tensor keep_;
  const std::byte* bytes_;
  uint32_t bits_;
  bool is_signed_;
};

}  // namespace cameo::ops
