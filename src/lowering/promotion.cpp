#include "lowering/promotion.h"

#include <algorithm>

#include "lowering/lower.h"

namespace cameo::lowering {

namespace {

bool is_number_like(DType t) { return t != DType::undefined; }

DType to_complex(DType t) { return t == DType::f64 ? DType::c128 : DType::c64; }

DType promote_ints(DType a, DType b) {
  if (is_signed_int(a) == is_signed_int(b)) return bits(a) >= bits(b) ? a : b;
  const DType s = is_signed_int(a) ? a : b, u = is_signed_int(a) ? b : a;
  if (bits(s) > bits(u)) return s;
  // Only uint8 has a signed type above it in torch; wider unsigned types do not promote with signed ones.
  return bits(u) == 8 ? DType::i16 : bits(u) == 16 ? DType::i32 : DType::i64;
}

// How categories combine: a higher category of a lower rank wins over a lower category of a higher rank.
DType combine(DType higher, DType lower) {
  if (is_complex(higher)) return higher;
  if (is_float(higher)) return is_complex(lower) ? to_complex(higher) : higher;
  if (higher == DType::boolean || is_float(lower) || is_complex(lower)) {
    if (!is_number_like(higher)) return lower;
    return is_number_like(lower) ? promote_types(higher, lower) : higher;
  }
  return is_number_like(higher) ? higher : lower;
}

struct Ranks {
  DType tensor = DType::undefined, scalar_tensor = DType::undefined, number = DType::undefined;
};

void include(DType& slot, DType t) { slot = slot == DType::undefined ? t : promote_types(slot, t); }

void collect(Lower& on, const Arg& a, Ranks& r) {
  if (const auto* v = a.as<V>())
    include(on.fact(*v).has_rank() && on.fact(*v).rank() == 0 ? r.scalar_tensor : r.tensor, on.dtype(*v));
  else if (a.as<bool>() || a.as<StagedBool>()) include(r.number, DType::boolean);
  else if (a.as<Dim>()) include(r.number, DType::i64);
  else if (a.as<double>() || a.as<StagedFloat>()) include(r.number, default_float);
  else if (a.as<std::complex<double>>()) include(r.number, DType::c64);
  else if (const auto* list = a.as<ArgList>())
    for (const Arg& part : **list) collect(on, part, r);
}

}  // namespace

DType promote_types(DType a, DType b) {
  if (a == b) return a;
  if (is_complex(a) || is_complex(b))
    return a == DType::c128 || b == DType::c128 || a == DType::f64 || b == DType::f64 ? DType::c128 : DType::c64;
  if (is_float(a) && is_float(b)) {
    if (bits(a) == bits(b)) return DType::f32;  // f16 with bf16
    return bits(a) > bits(b) ? a : b;
  }
  if (is_float(a)) return a;
  if (is_float(b)) return b;
  if (a == DType::boolean) return b;
  if (b == DType::boolean) return a;
  return promote_ints(a, b);
}

DType result_type(Lower& on, std::span<const Arg> args) {
  Ranks r;
  for (const Arg& a : args) collect(on, a, r);
  return combine(r.tensor, combine(r.scalar_tensor, r.number));
}

}  // namespace cameo::lowering
