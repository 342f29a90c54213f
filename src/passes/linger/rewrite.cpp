#include "passes/linger/rewrite.h"

#include <cmath>

#include "support/error.h"

namespace cameo::passes::linger {

namespace {

using ops::linger::Rounding;

double top_of(int64_t bits) { return std::ldexp(1.0, static_cast<int>(bits) - 1); }
bool fills_type(int64_t bits) { return bits == 8 || bits == 16; }

}  // namespace

void Rewrite::refuse(std::string why) const {
  Loc where;
  where.scope = self().name.empty() ? std::string(self().op->name) : self().name;
  throw error("convert.linger", cat(self().op->name, " cannot be written with ONNX's operators: ", why)).at(where);
}

ValueId Rewrite::dequantised(ValueId q, double scale) {
  const bool zero = form_.zero_points && on.dtype(q) == DType::i8;
  return on.DequantizeLinear(q, number(1 / scale), zero ? on.constant(kernels::zeros(DType::i8, {})) : ValueId());
}

ValueId Rewrite::stepped(ValueId x, double scale) {
  const ValueId up = on.Floor(on.Add(on.Mul(x, number(scale)), number(0.5)));
  return on.Mul(up, number(1 / scale));
}

ValueId Rewrite::on_grid(ValueId x, const Quantised& grid) {
  const DType type = ops::linger::type_of(grid.bits);
  const double top = top_of(grid.bits);
  if (!form_.exact && grid.bits <= 16) {
    // A type is filled by saturation; fewer bits are clipped to before.
    if (!fills_type(grid.bits)) x = on.Clip(x, number(-top / grid.scale), number((top - 1) / grid.scale));
    return on.QuantizeLinear(x, number(1 / grid.scale), on.constant(kernels::zeros(type, {})));
  }
  ValueId v = on.Mul(x, number(grid.scale));
  if (grid.how == Rounding::floor_add) v = on.Floor(on.Add(v, number(0.5)));
  else if (grid.how == Rounding::floor) v = on.Floor(v);
  else v = grid.how == Rounding::ceil ? on.Ceil(v) : on.Round(v);
  // f32 has no 2^31 - 1: the number below is the largest that a cast takes.
  const double most = grid.bits > 24 ? top - std::ldexp(1.0, static_cast<int>(grid.bits) - 25) : top - 1;
  return on.cast(on.Clip(v, number(-top), number(most)), type);
}

ValueId Rewrite::whole_constant(const Tensor& t, const Quantised& grid) {
  if (!is_float(t.dtype())) return on.constant(t);
  return on.constant(kernels::store(ops::linger::type_of(grid.bits), t.shape(), ops::linger::whole(t, grid, grid.how)));
}

ValueId Rewrite::real(size_t i) {
  const auto grid = ops::linger::operand_grid(self(), i);
  const ValueId v = in(i);
  if (!grid) return v;
  if (!is_float(fact(v).dtype())) return dequantised(v, grid->scale);
  if (const auto t = constant(i)) return dequantised(whole_constant(*t, *grid), grid->scale);
  return dequantised(on_grid(v, *grid), grid->scale);
}

ValueId Rewrite::real_constant(size_t i, const std::function<Tensor(const Tensor&)>& f) {
  const auto t = constant(i);
  const auto grid = ops::linger::operand_grid(self(), i);
  if (!t || !grid) refuse(cat("operand ", i, " is not a constant"));
  const auto q = g_.constant(whole_constant(*t, *grid));
  return dequantised(on.constant(f(*q)), grid->scale);
}

}  // namespace cameo::passes::linger
