// Elementwise operators between bytes.
#pragma once

#include <array>
#include <cstdint>

#include "support/layers.h"

namespace cameo::engine {

using ByteTable = std::array<uint8_t, 256>;
void look_up_row(const uint8_t* x, uint8_t* y, int64_t n, const ByteTable& table);

// Every byte twice, one after the other, in one row and, where it is not null, in a second one.
void twice_row(const uint8_t* x, uint8_t* y, uint8_t* again, int64_t n);

// A result of two operands: y = round(v) + zero, v inside [low, high]. All is in unsigned bytes: signed ones are turned
// into them, their zero points too.
struct ByteBinary {
  float a = 0, b = 0, rest = 0;  // sums: v = a * x1 + b * x2 + rest
  float a_zero = 0, b_zero = 0;  // products: v = (x1 - a_zero) * (x2 - b_zero) * a
  float low = 0, high = 255;     // of v, zero taken off
  int32_t zero = 0;
  uint8_t a_flip = 0, b_flip = 0, y_flip = 0;  // exclusive or: 128 turns signed into unsigned
};
void add_bytes_row(const uint8_t* x1, const uint8_t* x2, uint8_t* y, int64_t n, const ByteBinary& p);
void multiply_bytes_row(const uint8_t* x1, const uint8_t* x2, uint8_t* y, int64_t n, const ByteBinary& p);

}  // namespace cameo::engine
