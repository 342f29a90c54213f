#include "ir/number_format.h"

#include <array>
#include <cmath>
#include <limits>

#include "support/error.h"

namespace cameo::ir {

namespace {

// ieee: the top exponent is inf and NaN. fn: only all-ones is NaN, no inf. fnuz: minus zero's code is NaN, no inf.
// none: every code is a number.
enum class Specials : uint8_t { ieee, fn, fnuz, none };

struct Format {
  int exponent_bits, mantissa_bits, bias;
  Specials specials;
};

constexpr Format format_of(DType t) {
  switch (t) {
    case DType::f16: return {5, 10, 15, Specials::ieee};
    case DType::bf16: return {8, 7, 127, Specials::ieee};
    case DType::f8e4m3fn: return {4, 3, 7, Specials::fn};
    case DType::f8e4m3fnuz: return {4, 3, 8, Specials::fnuz};
    case DType::f8e5m2: return {5, 2, 15, Specials::ieee};
    case DType::f8e5m2fnuz: return {5, 2, 16, Specials::fnuz};
    case DType::f6e2m3: return {2, 3, 1, Specials::none};
    case DType::f6e3m2: return {3, 2, 3, Specials::none};
    case DType::f4e2m1: return {2, 1, 1, Specials::none};
    default: return {0, 0, 0, Specials::none};
  }
}

float decode(const Format& f, uint32_t bits) {
  const uint32_t mantissa_mask = (1u << f.mantissa_bits) - 1, exponent_mask = (1u << f.exponent_bits) - 1;
  const uint32_t mantissa = bits & mantissa_mask, exponent = (bits >> f.mantissa_bits) & exponent_mask;
  const bool negative = bits >> (f.mantissa_bits + f.exponent_bits) & 1;
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  if (f.specials == Specials::ieee && exponent == exponent_mask) return mantissa ? nan : negative ? -inf : inf;
  if (f.specials == Specials::fn && exponent == exponent_mask && mantissa == mantissa_mask) return nan;
  if (f.specials == Specials::fnuz && negative && exponent == 0 && mantissa == 0) return nan;
  const float magnitude = exponent == 0 ? std::ldexp(static_cast<float>(mantissa), 1 - f.bias - f.mantissa_bits)
                                        : std::ldexp(static_cast<float>(mantissa + (1u << f.mantissa_bits)),
                                                     static_cast<int>(exponent) - f.bias - f.mantissa_bits);
  return negative ? -magnitude : magnitude;
}

uint32_t largest_code(const Format& f) {
  const uint32_t all = (1u << (f.mantissa_bits + f.exponent_bits)) - 1;
  switch (f.specials) {
    case Specials::ieee: return all - (1u << f.mantissa_bits);
    case Specials::fn: return all - 1;
    default: return all;
  }
}

uint32_t encode(const Format& f, double v, Overflow overflow) {
  const uint32_t sign = std::signbit(v) ? 1u << (f.mantissa_bits + f.exponent_bits) : 0;
  const uint32_t all = (1u << (f.mantissa_bits + f.exponent_bits)) - 1;
  const uint32_t quiet_nan = f.specials == Specials::ieee
                                 ? all - (1u << f.mantissa_bits) + 1 + (1u << (f.mantissa_bits - 1))
                             : f.specials == Specials::fnuz ? 1u << (f.mantissa_bits + f.exponent_bits)
                                                            : all;
  // A format without NaN has minus zero in its place, as the reference conversion does.
  const uint32_t minus_zero = 1u << (f.mantissa_bits + f.exponent_bits);
  if (std::isnan(v))
    return f.specials == Specials::fnuz ? quiet_nan : f.specials == Specials::none ? minus_zero : quiet_nan | sign;
  const double magnitude = std::fabs(v);
  const uint32_t too_large = overflow == Overflow::saturate || f.specials == Specials::none ? sign | largest_code(f)
                             : f.specials == Specials::ieee ? sign | (largest_code(f) + 1)
                             : f.specials == Specials::fnuz ? quiet_nan
                                                            : sign | quiet_nan;
  if (std::isinf(magnitude)) return too_large;
  if (magnitude == 0) return f.specials == Specials::fnuz ? 0 : sign;
  const int smallest = 1 - f.bias;
  const int exponent = std::max(std::ilogb(magnitude), smallest);
  const auto steps = static_cast<uint64_t>(std::nearbyint(std::ldexp(magnitude, f.mantissa_bits - exponent)));
  // `steps` counts units in the last place; a carry runs into the exponent by itself.
  const uint64_t code = (static_cast<uint64_t>(exponent - smallest) << f.mantissa_bits) + steps;
  if (code > largest_code(f)) return too_large;
  if (code == 0 && f.specials == Specials::fnuz) return 0;
  return sign | static_cast<uint32_t>(code);
}

}  // namespace

float decode_float(DType t, uint32_t bits) {
  if (t == DType::f8e8m0)
    return bits == 0xff ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.0f, static_cast<int>(bits) - 127);
  const Format f = format_of(t);
  invariant(f.exponent_bits > 0, "a small float format");
  return decode(f, bits);
}

uint32_t encode_float(DType t, double v, Overflow overflow) {
  if (t == DType::f8e8m0) return encode_e8m0(v, E8M0Rounding::up, overflow == Overflow::saturate);
  const Format f = format_of(t);
  invariant(f.exponent_bits > 0, "a small float format");
  return encode(f, v, overflow);
}

double largest_finite(DType t) {
  if (t == DType::f32) return std::numeric_limits<float>::max();
  if (t == DType::f64) return std::numeric_limits<double>::max();
  if (t == DType::f8e8m0) return std::ldexp(1.0, 127);
  const Format f = format_of(t);
  return decode(f, largest_code(f));
}

uint32_t encode_e8m0(double v, E8M0Rounding rounding, bool saturate) {
  if (std::isnan(v)) return 0xff;
  const double magnitude = std::fabs(v);
  if (magnitude == 0) return 0;
  if (std::isinf(magnitude)) return saturate ? 0xfe : 0xff;
  int exponent = std::ilogb(magnitude);
  const double fraction = std::ldexp(magnitude, -exponent);  // [1, 2)
  if (rounding == E8M0Rounding::up ? fraction > 1 : rounding == E8M0Rounding::nearest && fraction >= 1.5) ++exponent;
  if (exponent > 127) return saturate ? 0xfe : 0xff;
  return exponent < -127 ? 0 : static_cast<uint32_t>(exponent + 127);
}

}  // namespace cameo::ir
