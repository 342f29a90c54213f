// Casts in a row, and casts that a constant operator can take over.
#include "passes/rules/tables.h"

namespace cameo::passes {

namespace {

// Every value of `from` is a value of `to`: casting there and on loses nothing.
bool holds_all(DType from, DType to) {
  if (from == to || from == DType::boolean) return true;
  const auto mantissa = [](DType t) {
    return t == DType::f64 ? 53 : t == DType::f32 ? 24 : t == DType::f16 ? 11 : t == DType::bf16 ? 8 : 0;
  };
  const auto exponent = [](DType t) {
    return t == DType::f64 ? 11 : t == DType::f32 || t == DType::bf16 ? 8 : t == DType::f16 ? 5 : 0;
  };
  if (is_float(from) && is_float(to))
    return mantissa(from) && mantissa(to) >= mantissa(from) && exponent(to) >= exponent(from);
  if (is_int(from) && is_int(to)) {
    if (is_unsigned_int(from) && !is_unsigned_int(to)) return bits(to) > bits(from);
    return is_unsigned_int(from) == is_unsigned_int(to) && bits(to) >= bits(from);
  }
  if (is_int(from) && is_float(to)) return mantissa(to) >= bits(from);
  return false;
}

bool is_plain(DType t) {
  return t == DType::boolean || is_int(t) || t == DType::f64 || t == DType::f32 || t == DType::f16 || t == DType::bf16;
}

void cast_of_cast(Rewrite& rw) {
  if (!rw.made_by<op::Cast>(rw.in(0))) return;
  const ValueId x = rw.operand(rw.in(0), 0);
  const DType from = rw.dtype(x), between = rw.dtype(rw.in(0)), to = rw.dtype(rw.out());
  if (!is_plain(from) || !is_plain(between) || !is_plain(to)) return;
  if (!holds_all(from, between)) return rw.no("the first cast may lose digits");
  rw.shape_is_kept();
  if (from == to) return rw.replace(x);
  rw.replace(rw.on.Cast(x, rw.attrs<op::Cast>()));
}

void cast_of_fill(Rewrite& rw) {
  const auto* fill = rw.made_by<op::ConstantOfShape>(rw.in(0));
  if (!fill || rw.dtype(rw.out()) == DType::string || rw.dtype(rw.in(0)) == DType::string) return;
  const ValueId one = rw.on.constant(fill->value ? fill->value->reshaped({1}) : Tensor::float_scalar(0).reshaped({1}));
  const ValueId cast = rw.on.Cast(one, rw.attrs<op::Cast>());
  if (!rw.fact(cast).tensor()) return;
  const Tensor value = *rw.fact(cast).tensor();
  rw.shape_is_kept();
  rw.replace(rw.on.ConstantOfShape(rw.operand(rw.in(0), 0), op::ConstantOfShape{.value = value}));
}

void cast_like(Rewrite& rw) {
  if (rw.dtype(rw.out()) == DType::undefined || rw.dtype(rw.out()) == DType::string) return;
  const auto& a = rw.attrs<op::CastLike>();
  rw.shape_is_kept();
  rw.replace(rw.on.Cast(
      rw.in(0),
      op::Cast{.round_mode = a.round_mode, .saturate = a.saturate, .to = static_cast<int64_t>(rw.dtype(rw.out()))}));
}

}  // namespace

std::vector<Rule> cast_rules_of_simplify() {
  return {
      rule("cast-cast", {"Cast"}, cast_of_cast).trading(),
      rule("cast-of-fill", {"Cast"}, cast_of_fill),
      rule("cast-like", {"CastLike"}, cast_like).trading(),
  };
}

}  // namespace cameo::passes
