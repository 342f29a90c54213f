// Add, Sub, Mul, Div, Mod, Pow: numbers of two tensors under broadcasting.
#include <cmath>

#include "ops/families.h"
#include "ops/math/elementwise.h"
#include "ops/math/int_contents.h"
#include "ops/math/revisions.h"
#include "ops/on.h"
#include "ops/operands.h"

namespace cameo::ops {

namespace {

// Integers wrap around: computed unsigned, so that overflow is defined.
template <class C, class F>
C wrapping(C x, C y, F f) {
  if constexpr (std::is_integral_v<C>) return static_cast<C>(f(static_cast<uint64_t>(x), static_cast<uint64_t>(y)));
  else return f(x, y);
}

template <class C>
void need_divisor(C y) {
  if constexpr (std::is_integral_v<C>)
    if (y == 0) throw error("eval.division", "an integer is divided by zero");
}

constexpr auto quotient = [](auto x, decltype(x) y) {
  need_divisor(y);
  if constexpr (std::is_same_v<decltype(x), int64_t>)
    if (y == -1) return wrapping(int64_t{0}, x, std::minus<>());  // the least integer has no opposite
  return static_cast<decltype(x)>(x / y);
};

// The remainder with the sign of the divisor, as Python's %.
template <class C>
C floor_mod(C x, C y) {
  if constexpr (std::is_floating_point_v<C>) {
    const C r = std::fmod(x, y);
    if (r == 0) return std::copysign(C{0}, y);
    return (r < 0) != (y < 0) && !std::isnan(r) ? r + y : r;
  } else if constexpr (std::is_signed_v<C>) {
    const C r = y == -1 ? 0 : x % y;
    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
  } else return x % y;
}

constexpr auto modulo = [](auto x, decltype(x) y, const op::Mod& a) {
  need_divisor(y);
  if (!a.fmod) return floor_mod(x, y);
  if constexpr (std::is_floating_point_v<decltype(x)>) return std::fmod(x, y);
  else if constexpr (std::is_signed_v<decltype(x)>) return y == -1 ? decltype(x){0} : static_cast<decltype(x)>(x % y);
  else return static_cast<decltype(x)>(x % y);
};

template <class F>
constexpr Row with_dims(Row r, F) {
  return std::move(r).inferring([](const void*, Infer& c) {
    infer_broadcast_all(c);
    zip_contents(c, [](Dim a, Dim b) { return F{}(a, b); });
  });
}

struct Pow : Rules<op::Pow> {
  static void infer(const op::Pow&, Infer& c) { infer_broadcast_all(c); }

  static int64_t int_power(int64_t base, int64_t exponent) {
    if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
    uint64_t result = 1, factor = static_cast<uint64_t>(base);
    for (; exponent; exponent >>= 1, factor *= factor)
      if (exponent & 1) result *= factor;
    return static_cast<int64_t>(result);
  }

  static void eval(const op::Pow&, Eval& k) {
    const Tensor &x = k.in(0), &y = k.in(1);
    const bool narrow_floats =
        is_float(x.dtype()) && is_float(y.dtype()) && x.dtype() != DType::f64 && y.dtype() != DType::f64;
    if (is_int(x.dtype()) && is_int(y.dtype())) k.out(0, zip_elements<int64_t, int64_t>(x, y, x.dtype(), int_power));
    else if (narrow_floats)
      k.out(0, zip_elements<float, float>(x, y, x.dtype(), [](float a, float b) { return std::pow(a, b); }));
    else k.out(0, zip_elements<double, double>(x, y, x.dtype(), [](double a, double b) { return std::pow(a, b); }));
  }

  static constexpr Expansion expansions[] = {
      // Before 12 both operands had one type, a floating one.
      expansion<op::Pow>(
          12, Exactness::rounding,
          [](const op::Pow&, Expand& e) {
            On& on = e.on;
            const DType x = e.dtype(0), wide = is_float(x) ? x : DType::f64;
            e.replace({on.cast(on.Pow(on.cast(e.in(0), wide), on.cast(e.in(1), wide)), x)});
          },
          [](const op::Pow&, const Graph& g, NodeId n, int64_t) {
            const DType x = input_fact(g, n, 0).dtype(), y = input_fact(g, n, 1).dtype();
            return x != DType::undefined && y != DType::undefined && (x != y || !is_float(x));
          }),
  };
  static constexpr Revision revisions[] = {{7, lift_old_broadcast, say_old_broadcast}};
};

bool on_floats(const Graph& g, NodeId n) { return is_float(input_fact(g, n, 0).dtype()); }

// x - floor(x / y) * y, which infinities spoil.
void expand_float_mod(const op::Mod& a, Expand& e) {
  On& on = e.on;
  const ValueId x = e.in(0), y = e.in(1), q = on.Div(x, y), zero = on.number_like(0, x);
  const ValueId whole = a.fmod ? on.Where(on.Less(q, zero), on.Ceil(q), on.Floor(q)) : on.Floor(q);
  e.replace({on.Sub(x, on.Mul(whole, y))});
}

// From the division that truncates.
void expand_int_mod(const op::Mod& a, Expand& e) {
  On& on = e.on;
  const ValueId x = e.in(0), y = e.in(1), rest = on.Sub(x, on.Mul(on.Div(x, y), y));
  if (a.fmod || is_unsigned_int(e.dtype(0))) return e.replace({rest});
  const ValueId zero = on.number_like(0, x);
  const ValueId wrong_sign =
      on.Or(on.And(on.Less(rest, zero), on.Greater(y, zero)), on.And(on.Greater(rest, zero), on.Less(y, zero)));
  e.replace({on.Where(wrong_sign, on.Add(rest, y), rest)});
}

constexpr Expansion mod_expansions[] = {
    expansion<op::Mod>(
        10, Exactness::domain, [](const op::Mod& a, Expand& e) { expand_float_mod(a, e); },
        [](const op::Mod&, const Graph& g, NodeId n, int64_t) { return on_floats(g, n); }),
    expansion<op::Mod>(
        10, Exactness::exact, [](const op::Mod& a, Expand& e) { expand_int_mod(a, e); },
        [](const op::Mod&, const Graph& g, NodeId n, int64_t) { return !on_floats(g, n); }),
    // Before 28 floats were taken only with fmod.
    expansion<op::Mod>(
        28, Exactness::rounding,
        [](const op::Mod&, Expand& e) {
          On& on = e.on;
          const ValueId x = e.in(0), y = e.in(1), zero = on.number_like(0, x);
          const ValueId rest = on.Mod(x, y, op::Mod{.fmod = 1});
          const ValueId wrong_sign = on.Less(on.Mul(on.Sign(rest), on.Sign(y)), zero);
          e.replace({on.Where(wrong_sign, on.Add(rest, y), rest)});
        },
        [](const op::Mod& a, const Graph& g, NodeId n, int64_t) { return !a.fmod && on_floats(g, n); }),
};

constexpr OpRules table[] = {
    with_dims(binary_over<op::Add, NumberCarriers>([](auto x, decltype(x) y) { return wrapping(x, y, std::plus<>()); }),
              [](Dim a, Dim b) { return a + b; })
        .commuting()
        .with(broadcasting_since_7),
    with_dims(
        binary_over<op::Sub, NumberCarriers>([](auto x, decltype(x) y) { return wrapping(x, y, std::minus<>()); }),
        [](Dim a, Dim b) { return a - b; })
        .with(broadcasting_since_7),
    with_dims(
        binary_over<op::Mul, NumberCarriers>([](auto x, decltype(x) y) { return wrapping(x, y, std::multiplies<>()); }),
        [](Dim a, Dim b) { return a * b; })
        .commuting()
        .with(broadcasting_since_7),
    with_dims(binary_over<op::Div, NumberCarriers>(quotient), [](Dim a, Dim b) { return trunc_div(a, b); })
        .with(broadcasting_since_7),
    binary_over<op::Mod, NumberCarriers>(modulo)
        .inferring([](const void* attrs, Infer& c) {
          infer_broadcast_all(c);
          if (!static_cast<const op::Mod*>(attrs)->fmod) zip_contents(c, [](Dim a, Dim b) { return mod(a, b); });
        })
        .with(mod_expansions),
    rules<Pow>(),
};

}  // namespace

std::span<const OpRules> arithmetic_rules() { return table; }

}  // namespace cameo::ops
