// The bits of integers: BitwiseAnd, BitwiseOr, BitwiseXor, BitwiseNot, BitShift.
#include "ops/families.h"
#include "ops/math/elementwise.h"
#include "ops/on.h"
#include "ops/operands.h"

namespace cameo::ops {

namespace {

// An integer as bits for operators that have none: its bits below the sign along a new last axis, and its sign.
struct Planes {
  ValueId bits, negative;
  Planes(On& on, ValueId x, ValueId powers, ValueId half) {
    const ValueId zero = on.int_scalar(0);
    negative = on.Less(x, zero);
    const ValueId low = on.Sub(x, on.Where(negative, half, zero));  // half is the least number: -2^(width - 1)
    bits = on.Mod(on.Div(on.Unsqueeze(low, on.ints({-1})), powers), on.int_scalar(2));
  }
};

// F(on, a, b) joins bits, which are 0 or 1; G(on, a, b) joins signs.
template <class F, class G>
void expand_bitwise(Expand& e, F join, G join_signs) {
  On& on = e.on;
  const DType type = e.dtype(0);
  if (!is_int(type)) return e.refuse("the element type is not known");
  // Wider than the type, so that unsigned integers have no sign; 64 bits are taken as signed.
  const int width = is_unsigned_int(type) && bits(type) < 64 ? bits(type) + 1 : bits(type);
  std::vector<int64_t> powers;
  for (int i = 0; i + 1 < width; ++i) powers.push_back(int64_t{1} << i);
  const ValueId weights = on.ints(powers), half = on.int_scalar(static_cast<int64_t>(~uint64_t{0} << (width - 1)));
  const Planes a(on, on.cast(e.in(0), DType::i64), weights, half), b(on, on.cast(e.in(1), DType::i64), weights, half);
  const ValueId low =
      on.ReduceSum(on.Mul(join(on, a.bits, b.bits), weights), on.ints({-1}), op::ReduceSum{.keepdims = 0});
  const ValueId top = on.Where(join_signs(on, a.negative, b.negative), half, on.int_scalar(0));
  e.replace({on.cast(on.Add(low, top), type)});
}

constexpr Expansion and_expansions[] = {
    expansion<op::BitwiseAnd>(18, Exactness::exact, [](const op::BitwiseAnd&, Expand& e) {
      expand_bitwise(
          e, [](On& on, ValueId a, ValueId b) { return on.Mul(a, b); },
          [](On& on, ValueId a, ValueId b) { return on.And(a, b); });
    })};
constexpr Expansion or_expansions[] = {
    expansion<op::BitwiseOr>(18, Exactness::exact, [](const op::BitwiseOr&, Expand& e) {
      expand_bitwise(
          e, [](On& on, ValueId a, ValueId b) { return on.Sub(on.Add(a, b), on.Mul(a, b)); },
          [](On& on, ValueId a, ValueId b) { return on.Or(a, b); });
    })};
constexpr Expansion xor_expansions[] = {
    expansion<op::BitwiseXor>(18, Exactness::exact, [](const op::BitwiseXor&, Expand& e) {
      expand_bitwise(
          e, [](On& on, ValueId a, ValueId b) { return on.Mod(on.Add(a, b), on.int_scalar(2)); },
          [](On& on, ValueId a, ValueId b) { return on.Xor(a, b); });
    })};
constexpr Expansion not_expansions[] = {
    expansion<op::BitwiseNot>(18, Exactness::exact, [](const op::BitwiseNot&, Expand& e) {
      // All ones minus x: -1 - x when signed.
      const DType t = e.dtype(0);
      if (!is_int(t)) return e.refuse("the element type is not known");
      e.replace({e.on.Sub(e.on.constant(store(t, {}, std::vector<int64_t>{-1})), e.in(0))});
    })};

struct BitShift : Rules<op::BitShift> {
  static void infer(const op::BitShift& a, Infer& c) {
    if (a.direction != "LEFT" && a.direction != "RIGHT")
      c.fail("infer.attribute", cat("direction is '", a.direction, "', not LEFT or RIGHT"));
    infer_broadcast_all(c);
  }

  static void eval(const op::BitShift& a, Eval& k) {
    const Tensor &x = k.in(0), &y = k.in(1);
    const auto width = static_cast<uint64_t>(bits(x.dtype()));
    const bool left = a.direction == "LEFT";
    k.out(0, IntCarriers::with(x.dtype(), [&](auto c) {
            using C = decltype(c);
            return zip_elements<C, C>(x, y, x.dtype(), [&](C v, C by) {
              if (static_cast<uint64_t>(by) >= width)
                return !left && v < C{} ? static_cast<C>(-1) : C{};  // negative amounts too
              return left ? static_cast<C>(static_cast<uint64_t>(v) << by) : static_cast<C>(v >> by);
            });
          }));
  }

  // Amounts that the model computes: powers of two from a table, in 64 bits, which hold every narrower result.
  static void expand_computed(const op::BitShift& a, Expand& e) {
    On& on = e.on;
    const DType type = e.dtype(0), wide = type == DType::u64 ? DType::u64 : DType::i64;
    if (!is_int(type)) return e.refuse("the element type is not known");
    const bool left = a.direction == "LEFT";
    const int64_t most = !left && type == DType::i64 ? 63 : bits(type);  // from here on nothing is left of the number
    std::vector<uint64_t> powers;
    for (int64_t i = 0; i <= most; ++i) powers.push_back(i < most ? uint64_t{1} << i : left ? 0 : 1);
    const ValueId by = on.cast(e.in(1), DType::i64), x = on.cast(e.in(0), wide);
    const ValueId beyond = on.Or(on.Less(by, on.int_scalar(0)), on.Greater(by, on.int_scalar(most - 1)));
    const ValueId factor =
        on.Gather(on.constant(store(wide, {most + 1}, powers)), on.Where(beyond, on.int_scalar(most), by));
    if (left) return e.replace({on.cast(on.Mul(x, factor), type)});
    const bool is_signed = is_signed_int(type);
    const ValueId shifted = on.cast(on.Div(is_signed ? on.Sub(x, on.Mod(x, factor)) : x, factor), type),
                  zero = on.number(0, type);
    const ValueId rest = is_signed ? on.Where(on.Less(e.in(0), zero), on.number(-1, type), zero) : zero;
    e.replace({on.Where(beyond, rest, shifted)});
  }

  static void expand(const op::BitShift& a, Expand& e) {
    const auto amounts = e.graph.constant(e.in(1), 1 << 16);
    if (!amounts) return expand_computed(a, e);
    const Loaded<int64_t> by(*amounts);
    const bool left = a.direction == "LEFT", is_signed = is_signed_int(e.dtype(0));
    const int width = bits(e.dtype(0)), most = left || !is_signed ? width : width - 1;
    std::vector<uint64_t> factors;
    for (const int64_t n : by.span()) {
      const bool inside = n >= 0 && n < most;
      if (!left && !inside) return e.refuse("an amount to shift by is outside the type");
      factors.push_back(inside ? uint64_t{1} << n : 0);
    }
    On& on = e.on;
    const ValueId x = e.in(0), factor = on.constant(store(amounts->dtype(), amounts->shape(), factors));
    if (left) return e.replace({on.Mul(x, factor)});
    // Truncation is the floor once the remainder is taken away.
    e.replace({on.Div(is_signed ? on.Sub(x, on.Mod(x, factor)) : x, factor)});
  }

  static constexpr Expansion expansions[] = {
      expansion<op::BitShift>(11, Exactness::exact, [](const op::BitShift& a, Expand& e) { expand(a, e); }),
      // Signed integers came with 28.
      expansion<op::BitShift>(
          28, Exactness::exact, [](const op::BitShift& a, Expand& e) { expand(a, e); },
          [](const op::BitShift&, const Graph& g, NodeId n, int64_t) {
            return is_signed_int(input_fact(g, n, 0).dtype());
          }),
  };
};

constexpr OpRules table[] = {
    binary_over<op::BitwiseAnd, IntCarriers>(std::bit_and<>()).commuting().with(and_expansions),
    binary_over<op::BitwiseOr, IntCarriers>(std::bit_or<>()).commuting().with(or_expansions),
    binary_over<op::BitwiseXor, IntCarriers>(std::bit_xor<>()).commuting().with(xor_expansions),
    unary_over<op::BitwiseNot, IntCarriers>([](auto x) { return ~x; }).with(not_expansions),
    rules<BitShift>(),
};

}  // namespace

std::span<const OpRules> bits_rules() { return table; }

}  // namespace cameo::ops
