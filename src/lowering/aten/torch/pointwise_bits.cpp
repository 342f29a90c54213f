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

constexpr Row table[] = {
    {"aten::logical_not", [](Lower& on, V x) { return V(on.Not(as_bool(on, x))); }},
    {"aten::logical_and", [](Lower& on, V a, V b) { return V(on.And(as_bool(on, a), as_bool(on, b))); }},
    {"aten::logical_or", [](Lower& on, V a, V b) { return V(on.Or(as_bool(on, a), as_bool(on, b))); }},
    {"aten::logical_xor",
     [](Lower& on, V a, V b) { return V(on.Xor(on.to(a, DType::boolean), on.to(b, DType::boolean))); }},
    {"aten::bitwise_not", [](Lower& on, V x) { return on.is_bool(x) ? V(on.Not(x)) : V(on.BitwiseNot(x)); }},
    {"aten::bitwise_and.Scalar",
     [](Lower& on, V a, V b) { return on.is_bool(a) ? V(on.And(a, b)) : V(on.BitwiseAnd(a, b)); }, promote(0, 1)},
    {"aten::bitwise_and.Tensor",
     [](Lower& on, V a, V b) { return on.is_bool(a) ? V(on.And(a, b)) : V(on.BitwiseAnd(a, b)); }, promote(0, 1)},
    {"aten::bitwise_or.Scalar",
     [](Lower& on, V a, V b) { return on.is_bool(a) ? V(on.Or(a, b)) : V(on.BitwiseOr(a, b)); }, promote(0, 1)},
    {"aten::bitwise_or.Tensor",
     [](Lower& on, V a, V b) { return on.is_bool(a) ? V(on.Or(a, b)) : V(on.BitwiseOr(a, b)); }, promote(0, 1)},
    {"aten::bitwise_xor.Tensor",
     [](Lower& on, V a, V b) { return on.is_bool(a) ? V(on.Xor(a, b)) : V(on.BitwiseXor(a, b)); }, promote(0, 1)},
    {"aten::bitwise_xor.Scalar",
     [](Lower& on, V a, V b) { return on.is_bool(a) ? V(on.Xor(a, b)) : V(on.BitwiseXor(a, b)); }, promote(0, 1)},
    {"aten::__and__.Scalar",
     [](Lower& on, V a, V b) { return on.is_bool(a) ? V(on.And(a, b)) : V(on.BitwiseAnd(a, b)); }, promote(0, 1)},
    {"aten::__and__.Tensor",
     [](Lower& on, V a, V b) { return on.is_bool(a) ? V(on.And(a, b)) : V(on.BitwiseAnd(a, b)); }, promote(0, 1)},
    {"aten::__or__.Scalar", [](Lower& on, V a, V b) { return on.is_bool(a) ? V(on.Or(a, b)) : V(on.BitwiseOr(a, b)); },
     promote(0, 1)},
    {"aten::__or__.Tensor", [](Lower& on, V a, V b) { return on.is_bool(a) ? V(on.Or(a, b)) : V(on.BitwiseOr(a, b)); },
     promote(0, 1)},
    {"aten::__xor__.Tensor",
     [](Lower& on, V a, V b) { return on.is_bool(a) ? V(on.Xor(a, b)) : V(on.BitwiseXor(a, b)); }, promote(0, 1)},
    {"aten::bitwise_left_shift.Tensor", [](Lower& on, V a, V b) { return shift(on, a, b, true); }, promote(0, 1)},
    {"aten::bitwise_right_shift.Tensor", [](Lower& on, V a, V b) { return shift(on, a, b, false); }, promote(0, 1)},
    {"aten::__lshift__.Scalar", [](Lower& on, V a, V b) { return shift(on, a, b, true); }, promote(0, 1)},
    {"aten::__rshift__.Scalar", [](Lower& on, V a, V b) { return shift(on, a, b, false); }, promote(0, 1)},
};

}  // namespace

std::span<const Row> torch_pointwise_bits_rows() { return table; }

}  // namespace cameo::lowering
