// PyTorch's type promotion.
#pragma once

#include <span>

#include "ir/dtype.h"
#include "lowering/arg.h"

namespace cameo::lowering {

class Lower;

DType promote_types(DType a, DType b);  // torch.promote_types

// torch.result_type over tensors (0-d ones rank below others) and numbers (below both).
DType result_type(Lower& on, std::span<const Arg> args);
inline constexpr DType default_float = DType::f32;

// Which arguments of a row are brought to one dtype before it is called; numbers among them become 0-d constants.
struct Promotion {
  uint8_t mask = 0;       // bit i: argument i
  bool to_float = false;  // an integer result becomes the default float (sin, true division, mean of ...)
};
constexpr Promotion promote(auto... args) {
  Promotion p;
  ((p.mask = static_cast<uint8_t>(p.mask | 1u << args)), ...);
  return p;
}
constexpr Promotion promote_float(auto... args) {
  Promotion p = promote(args...);
  p.to_float = true;
  return p;
}

}  // namespace cameo::lowering
