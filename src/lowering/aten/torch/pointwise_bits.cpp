// torch, Pointwise Ops: logic, bits.
#include "lowering/arithmetic.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

V shift(Lower& on, V a, V b, bool left) {
  if (is_unsigned_int(on.dtype(a))) return on.BitShift(a, b, op::BitShift{.direction = left ? "LEFT" : "RIGHT"});
  // Signed integers: by powers of two. A right shift rounds down.
  const V factor = on.to(on.Pow(on.number(2, DType::f64), on.to(b, DType::f64)), on.dtype(a));
  if (left) return on.Mul(a, factor);
  return on.Div(on.Sub(a, on.Mod(a, factor)), factor);
}

V bits_and(Lower& on, V a, V b) { return on.is_bool(a) ? V(on.And(a, b)) : V(on.BitwiseAnd(a, b)); }
V bits_or(Lower& on, V a, V b) { return on.is_bool(a) ? V(on.Or(a, b)) : V(on.BitwiseOr(a, b)); }
V bits_xor(Lower& on, V a, V b) { return on.is_bool(a) ? V(on.Xor(a, b)) : V(on.BitwiseXor(a, b)); }
V shift_left(Lower& on, V a, V b) { return shift(on, a, b, true); }
V shift_right(Lower& on, V a, V b) { return shift(on, a, b, false); }

constexpr Row table[] = {
    {"aten::logical_not", [](Lower& on, V x) { return V(on.Not(as_bool(on, x))); }},
    {"aten::logical_and", [](Lower& on, V a, V b) { return V(on.And(as_bool(on, a), as_bool(on, b))); }},
    {"aten::logical_or", [](Lower& on, V a, V b) { return V(on.Or(as_bool(on, a), as_bool(on, b))); }},
    {"aten::logical_xor",
     [](Lower& on, V a, V b) { return V(on.Xor(on.to(a, DType::boolean), on.to(b, DType::boolean))); }},
    {"aten::bitwise_not", [](Lower& on, V x) { return on.is_bool(x) ? V(on.Not(x)) : V(on.BitwiseNot(x)); }},
    {"aten::bitwise_and.Scalar", fn<bits_and>, promote(0, 1)},
    {"aten::bitwise_and.Tensor", fn<bits_and>, promote(0, 1)},
    {"aten::bitwise_and.Scalar_Tensor", fn<bits_and>, promote(0, 1)},
    {"aten::bitwise_or.Scalar", fn<bits_or>, promote(0, 1)},
    {"aten::bitwise_or.Tensor", fn<bits_or>, promote(0, 1)},
    {"aten::bitwise_or.Scalar_Tensor", fn<bits_or>, promote(0, 1)},
    {"aten::bitwise_xor.Scalar", fn<bits_xor>, promote(0, 1)},
    {"aten::bitwise_xor.Tensor", fn<bits_xor>, promote(0, 1)},
    {"aten::bitwise_xor.Scalar_Tensor", fn<bits_xor>, promote(0, 1)},
    {"aten::__and__.Scalar", fn<bits_and>, promote(0, 1)},
    {"aten::__and__.Tensor", fn<bits_and>, promote(0, 1)},
    {"aten::__or__.Scalar", fn<bits_or>, promote(0, 1)},
    {"aten::__or__.Tensor", fn<bits_or>, promote(0, 1)},
    {"aten::__xor__.Scalar", fn<bits_xor>, promote(0, 1)},
    {"aten::__xor__.Tensor", fn<bits_xor>, promote(0, 1)},
    {"aten::bitwise_left_shift.Tensor", fn<shift_left>, promote(0, 1)},
    {"aten::bitwise_left_shift.Tensor_Scalar", fn<shift_left>, promote(0, 1)},
    {"aten::bitwise_left_shift.Scalar_Tensor", fn<shift_left>, promote(0, 1)},
    {"aten::__lshift__.Scalar", fn<shift_left>, promote(0, 1)},
    {"aten::__lshift__.Tensor", fn<shift_left>, promote(0, 1)},
    {"aten::bitwise_right_shift.Tensor", fn<shift_right>, promote(0, 1)},
    {"aten::bitwise_right_shift.Tensor_Scalar", fn<shift_right>, promote(0, 1)},
    {"aten::bitwise_right_shift.Scalar_Tensor", fn<shift_right>, promote(0, 1)},
    {"aten::__rshift__.Scalar", fn<shift_right>, promote(0, 1)},
    {"aten::__rshift__.Tensor", fn<shift_right>, promote(0, 1)},
};

}  // namespace

std::span<const Row> torch_pointwise_bits_rows() { return table; }

}  // namespace cameo::lowering
