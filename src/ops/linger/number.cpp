#include "ops/linger/number.h"

#include <algorithm>
#include <cmath>

namespace cameo::ops::linger {

DType type_of(int64_t bits) { return bits <= 8 ? DType::i8 : bits <= 16 ? DType::i16 : DType::i32; }

Rounding rounding_of(const std::optional<std::string>& quant_mode) {
  if (!quant_mode || *quant_mode == "floor_add") return Rounding::floor_add;
  if (*quant_mode == "floor") return Rounding::floor;
  return *quant_mode == "ceil" ? Rounding::ceil : Rounding::even;
}

double rounded(double v, Rounding how) {
  switch (how) {
    case Rounding::floor: return std::floor(v);
    case Rounding::ceil: return std::ceil(v);
    case Rounding::even: return std::nearbyint(v);
    case Rounding::floor_add: break;
  }
  return std::floor(v + 0.5);
}

double saturated(double v, int64_t bits) {
  const double top = std::ldexp(1.0, static_cast<int>(std::clamp<int64_t>(bits, 1, 32)) - 1);
  return std::isnan(v) ? -top : std::clamp(v, -top, top - 1);
}

double in_q15(double v) { return std::floor(v * 32768 + 0.5) / 32768; }

void want_scale(const Infer& c, std::string_view name, double scale) {
  if (!(scale > 0) || !std::isfinite(scale))
    c.fail("infer.attribute", cat(name, " is ", scale, " and must be a number above 0"));
}

void want_bits(const Infer& c, std::string_view name, int64_t bits) {
  if (bits < 1 || bits > 32) c.fail("infer.attribute", cat(name, " is ", bits, " and must be between 1 and 32"));
}

void want_grid(const Infer& c, std::string_view name, double scale, int64_t bits) {
  want_scale(c, cat("scale_", name), scale);
  want_bits(c, cat(name, "_bits"), bits);
}

std::vector<double> whole(const Tensor& t, const Grid& grid, Rounding how) {
  const Loaded<double> v(t);
  std::vector<double> out(v.span().begin(), v.span().end());
  if (is_float(t.dtype()))
    for (double& x : out) x = saturated(rounded(x * grid.scale, how), grid.bits);
  return out;
}

Tensor whole_tensor(const Tensor& t, const Grid& grid, Rounding how) {
  return store(DType::f64, t.shape(), whole(t, grid, how));
}

Tensor requantised(std::vector<int64_t> shape, std::span<const double> v, double scale, const Grid& to, Rounding how) {
  std::vector<double> q(v.begin(), v.end());
  const double factor = to.scale / scale;
  for (double& x : q) x = saturated(rounded(x * factor, how), to.bits);
  return store(type_of(to.bits), std::move(shape), q);
}

}  // namespace cameo::ops::linger
