// Bits, shifts, quotients with remainders and whole powers of ints. An unknown int stays an expression over sizes where
// one says it, so that shapes made of it stay known; else it is a node's result.
#include <cmath>

#include "staging/host/reals.h"
#include "staging/host/tables.h"

namespace cameo::staging {

namespace {

bool ints(const HostCall& c) { return c.size() == 2 && c[0].is<Dim>() && c[1].is<Dim>(); }
bool known(Dim a, Dim b) { return a.is_literal() && b.is_literal(); }
Value from_node(HostCall& c, V v) { return c.s.on.int_of(v); }
int64_t shifted(int64_t a, int64_t by) { return by > 63 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(a) << by); }

// 2^k of a mask 2^k - 1.
std::optional<int64_t> above_mask(Dim d) {
  const int64_t m = d.is_literal() ? d.literal() : -1;
  return m > 0 && m < INT64_MAX && (m & (m + 1)) == 0 ? std::optional<int64_t>(m + 1) : std::nullopt;
}

Results bits_and(HostCall& c) {
  if (!ints(c)) return std::nullopt;
  const Dim a = c[0].need<Dim>(), b = c[1].need<Dim>();
  if (known(a, b)) return one(Dim(a.literal() & b.literal()));
  if (const auto m = above_mask(b)) return one(mod(a, Dim(*m)));
  if (const auto m = above_mask(a)) return one(mod(b, Dim(*m)));
  const V x = c.s.on.int_scalar(a), y = c.s.on.int_scalar(b);
  return one(from_node(c, c.s.on.BitwiseAnd(x, y)));
}
Results bits_or(HostCall& c) {
  if (!ints(c)) return std::nullopt;
  const Dim a = c[0].need<Dim>(), b = c[1].need<Dim>();
  if (known(a, b)) return one(Dim(a.literal() | b.literal()));
  const V x = c.s.on.int_scalar(a), y = c.s.on.int_scalar(b);
  return one(from_node(c, c.s.on.BitwiseOr(x, y)));
}
Results bits_xor(HostCall& c) {
  if (!ints(c)) return std::nullopt;
  const Dim a = c[0].need<Dim>(), b = c[1].need<Dim>();
  if (known(a, b)) return one(Dim(a.literal() ^ b.literal()));
  const V x = c.s.on.int_scalar(a), y = c.s.on.int_scalar(b);
  return one(from_node(c, c.s.on.BitwiseXor(x, y)));
}

template <bool Left>
Results shift(HostCall& c) {
  if (!ints(c)) return std::nullopt;
  const Dim a = c[0].need<Dim>(), by = c[1].need<Dim>();
  if (by.is_literal() && by.literal() < 0) c.s.fail("stage.number", "a shift by a negative number");
  if (known(a, by))
    return one(Dim(Left ? shifted(a.literal(), by.literal()) : a.literal() >> std::min<int64_t>(by.literal(), 63)));
  if (by.is_literal() && by.literal() < 62)
    return one(Left ? a * Dim(int64_t{1} << by.literal()) : floor_div(a, Dim(int64_t{1} << by.literal())));
  const Value x = c.s.tensor(c.s.on.int_scalar(a)), y = c.s.tensor(c.s.on.int_scalar(by));
  return one(c.s.int_from(c.s.call_op("aten", Left ? "bitwise_left_shift" : "bitwise_right_shift", {{x, y}, {}})[0]));
}

void need_divisor(HostCall& c) {
  if (is_known_real(c[1]) && real(c[1]) == 0) c.s.fail("stage.division-by-zero", "division by zero");
}

// An int with a float: PyTorch computes these in single precision.
Results mixed_divmod(HostCall& c) {
  if (is_known_real(c[0]) && is_known_real(c[1])) {
    const auto a = static_cast<float>(real(c[0])), b = static_cast<float>(real(c[1])), quotient = std::floor(a / b);
    return std::vector<Value>{static_cast<double>(quotient), static_cast<double>(a - quotient * b)};
  }
  auto& on = c.s.on;
  const V a = on.to(staged(c, c[0]), DType::f32), b = on.to(staged(c, c[1]), DType::f32),
          quotient = on.Floor(on.Div(a, b));
  const V rest = on.Sub(a, on.Mul(quotient, b));
  return std::vector<Value>{Value(StagedFloat{on.to(quotient, DType::f64)}),
                            Value(StagedFloat{on.to(rest, DType::f64)})};
}
Results quotient_and_rest(HostCall& c) {
  if (c.size() != 2 || !two(c, is_real)) return std::nullopt;
  need_divisor(c);
  if (ints(c))
    return std::vector<Value>{floor_div(c[0].need<Dim>(), c[1].need<Dim>()), mod(c[0].need<Dim>(), c[1].need<Dim>())};
  if (is_int(c[0]) != is_int(c[1])) return mixed_divmod(c);
  if (is_known_real(c[0]) && is_known_real(c[1])) {
    const double a = real(c[0]), b = real(c[1]);
    double rest = std::fmod(a, b);
    if (rest != 0 && (a < 0) != (b < 0)) rest += b;
    return std::vector<Value>{(a - rest) / b, rest};
  }
  auto& on = c.s.on;
  const V a = staged(c, c[0]), b = staged(c, c[1]), zero = on.number_like(0, a), r = on.Mod(a, b, {.fmod = 1});
  const V other_side = on.And(on.Not(on.Equal(r, zero)), on.Xor(on.Less(a, zero), on.Less(b, zero)));
  const V rest = on.Where(other_side, on.Add(r, b), r);
  return std::vector<Value>{Value(StagedFloat{on.Div(on.Sub(a, rest), b)}), Value(StagedFloat{rest})};
}
Results divided_to_zero(HostCall& c) {
  if (!ints(c)) return std::nullopt;
  need_divisor(c);
  const Dim a = c[0].need<Dim>(), b = c[1].need<Dim>();
  if (known(a, b)) return one(Dim(a.literal() / b.literal()));
  const V x = c.s.on.int_scalar(a), y = c.s.on.int_scalar(b);
  return one(from_node(c, c.s.on.Div(x, y)));
}

// Of ints an int, as exported programs compute sizes; scripts have floats here (aten::pow).
Results whole_power(HostCall& c) {
  if (!ints(c) || (c[1].need<Dim>().is_literal() && c[1].need<Dim>().literal() < 0))
    return c.s.call_op("aten", "pow", {c.args, {}});
  const Dim a = c[0].need<Dim>(), n = c[1].need<Dim>();
  if (n.is_literal() && n.literal() <= 8) {
    Dim product(1);
    for (int64_t i = 0; i < n.literal(); ++i) product = product * a;
    return one(product);
  }
  const V x = c.s.on.int_scalar(a), y = c.s.on.int_scalar(n);
  return one(from_node(c, c.s.on.Pow(x, y)));
}

constexpr HostRow table[] = {
    {"aten::__and__", bits_and},
    {"aten::__or__", bits_or},
    {"aten::__xor__", bits_xor},
    {"aten::__lshift__", shift<true>},
    {"aten::__rshift__", shift<false>},
    {"aten::divmod", quotient_and_rest},
    {"aten::__round_to_zero_floordiv", divided_to_zero},
    {"aten::pow.int_to_int", whole_power},
};

}  // namespace

std::span<const HostRow> host_integer_rows() { return table; }

}  // namespace cameo::staging
