#include "backends/onnx/widening.h"

#include <algorithm>

namespace cameo::onnx {

namespace {

// Operators that move or compare elements: the same in every type that keeps the values and their order. All others
// compute, and then an integer must stay an integer (which wraps like the narrower one when cast back) and a
// floating-point number a floating-point number.
constexpr std::string_view order_only[] = {
    "ArgMax",
    "ArgMin",
    "Clip",
    "Compress",
    "Concat",
    "ConcatFromSequence",
    "DepthToSpace",
    "Equal",
    "Expand",
    "Flatten",
    "Gather",
    "GatherElements",
    "GatherND",
    "Greater",
    "GreaterOrEqual",
    "Identity",
    "Less",
    "LessOrEqual",
    "Max",
    "MaxPool",
    "MaxUnpool",
    "Min",
    "NonZero",
    "OneHot",
    "Pad",
    "ReduceMax",
    "ReduceMin",
    "Relu",
    "Reshape",
    "ReverseSequence",
    "ScatterElements",
    "ScatterND",
    "Shape",
    "Sign",
    "Size",
    "Slice",
    "SpaceToDepth",
    "Split",
    "Squeeze",
    "Tile",
    "TopK",
    "Transpose",
    "Trilu",
    "Unique",
    "Unsqueeze",
    "Where",
};
static_assert(std::is_sorted(std::begin(order_only), std::end(order_only)));

bool is_order_only(const OpDef& op) {
  return op.domain.empty() && std::binary_search(std::begin(order_only), std::end(order_only), op.name);
}

// Digits of precision and greatest exponent decide whether one floating-point format holds another.
struct Format {
  int precision, max_exponent, min_exponent;  // of the smallest subnormal
};
std::optional<Format> format(DType t) {
  switch (t) {
    case DType::f64: return Format{53, 1023, -1074};
    case DType::f32: return Format{24, 127, -149};
    case DType::f16: return Format{11, 15, -24};
    case DType::bf16: return Format{8, 127, -133};
    case DType::f8e4m3fn:
    case DType::f8e4m3fnuz: return Format{4, 8, -10};
    case DType::f8e5m2:
    case DType::f8e5m2fnuz: return Format{3, 15, -17};
    case DType::f8e8m0: return Format{1, 127, -127};
    case DType::f4e2m1: return Format{2, 2, -1};
    case DType::f6e2m3: return Format{4, 2, -3};
    case DType::f6e3m2: return Format{3, 4, -4};
    default: return std::nullopt;
  }
}

int value_bits(DType t) { return t == DType::boolean ? 1 : is_signed_int(t) ? bits(t) - 1 : bits(t); }

bool holds(DType wide, DType narrow) {
  if (wide == narrow || wide == DType::boolean || (is_float(wide) && bits(wide) < 16))
    return false;  // 8-bit formats differ in infinities
  const auto w = format(wide), n = format(narrow);
  if (n)
    return w && w->precision >= n->precision && w->max_exponent >= n->max_exponent &&
           w->min_exponent <= n->min_exponent;
  if (!is_int(narrow) && narrow != DType::boolean) return false;
  if (w) return w->precision >= value_bits(narrow) && w->max_exponent >= value_bits(narrow);
  return is_int(wide) && value_bits(wide) >= value_bits(narrow) && (is_signed_int(wide) || !is_signed_int(narrow));
}

}  // namespace

std::optional<DType> wider_type(DType from, const OpDef& op, const TypeSet& allowed) {
  std::optional<DType> best;
  for (const DTypeInfo& t : all_dtypes()) {
    if (t.dtype == DType::undefined || !holds(t.dtype, from) || !admits(allowed, Type::tensor(t.dtype))) continue;
    const bool changes_kind = is_float(t.dtype) != is_float(from) || from == DType::boolean;
    if (changes_kind && !is_order_only(op)) continue;
    // Integers stay integers where they can; then the narrowest.
    const auto rank = [&](DType d) { return (is_float(d) != is_float(from) ? 1000 : 0) + bits(d); };
    if (!best || rank(t.dtype) < rank(*best)) best = t.dtype;
  }
  return best;
}

}  // namespace cameo::onnx
