// Comparisons and truth values of two tensors.
#include "ops/families.h"
#include "ops/math/elementwise.h"
#include "ops/math/int_contents.h"
#include "ops/math/revisions.h"
#include "ops/on.h"
#include "ops/operands.h"

namespace cameo::ops {

namespace {

struct Equal : Rules<op::Equal> {
  static constexpr bool commutative = true;

  static void infer(const op::Equal&, Infer& c) {
    infer_broadcast_all(c);
    compare_contents(c, [&](Dim a, Dim b) { return c.graph().facts.surely_equal(a, b); });
  }

  static void eval(const op::Equal&, Eval& k) {
    const Tensor &a = k.in(0), &b = k.in(1);
    if ((a.dtype() == DType::string) != (b.dtype() == DType::string))
      k.fail("eval.type", "strings are compared with numbers");
    if (a.dtype() == DType::string) return k.out(0, equal_strings(a, b));
    k.out(0, with_carrier(a.dtype(), [&](auto c) {
            using C = decltype(c);
            return zip_elements<C, uint8_t>(a, b, DType::boolean, std::equal_to<>());
          }));
  }

  static Tensor equal_strings(const Tensor& a, const Tensor& b) {
    BroadcastRows rows({&a, &b});
    std::vector<uint8_t> out;
    for (; !rows.done(); rows.next())
      for (int64_t i = 0; i < rows.row_length(); ++i)
        out.push_back(a.strings()[static_cast<size_t>(rows.start(0) + i * rows.step(0))] ==
                      b.strings()[static_cast<size_t>(rows.start(1) + i * rows.step(1))]);
    return store(DType::boolean, rows.shape(), out);
  }

  static constexpr Revision revisions[] = {{7, lift_old_broadcast, say_old_broadcast}};
  // Floats could not be asked for equality before 11: neither less nor greater, and both numbers.
  static constexpr Expansion expansions[] = {
      // Equal bits are equal numbers.
      expansion<op::Equal>(
          11, Exactness::exact,
          [](const op::Equal&, Expand& e) {
            e.replace({e.on.Equal(e.on.cast(e.in(0), DType::i64), e.on.cast(e.in(1), DType::i64))});
          },
          [](const op::Equal&, const Graph& g, NodeId n, int64_t) {
            return input_fact(g, n, 0).dtype() == DType::u64;
          }),
      expansion<op::Equal>(
          11, Exactness::exact,
          [](const op::Equal&, Expand& e) {
            On& on = e.on;
            const ValueId a = e.in(0), b = e.in(1);
            const ValueId apart = on.Or(on.Or(on.Less(a, b), on.Greater(a, b)), on.Or(on.IsNaN(a), on.IsNaN(b)));
            e.replace({on.Not(apart)});
          },
          [](const op::Equal&, const Graph& g, NodeId n, int64_t) { return is_float(input_fact(g, n, 0).dtype()); })};
};

template <class F>
constexpr Row with_answers(Row r, F) {
  r.infer = [](const void*, Infer& c) {
    infer_broadcast_all(c);
    compare_contents(c, [&](Dim a, Dim b) { return F{}(c.graph().facts, a, b); });
  };
  return r;
}

// Not greater is less or equal, but for NaN.
template <class Attrs, bool less>
constexpr Expansion or_equal = expansion<Attrs>(12, Exactness::exact, [](const Attrs&, Expand& e) {
  On& on = e.on;
  const ValueId a = e.in(0), b = e.in(1);
  ValueId wrong = less ? on.Greater(a, b) : on.Less(a, b);
  if (is_float(e.dtype(0))) wrong = on.Or(wrong, on.Or(on.IsNaN(a), on.IsNaN(b)));
  e.replace({on.Not(wrong)});
});
constexpr Expansion less_or_equal_expansions[] = {or_equal<op::LessOrEqual, true>};
constexpr Expansion greater_or_equal_expansions[] = {or_equal<op::GreaterOrEqual, false>};

constexpr Revision bool_revisions[] = {{7, lift_old_broadcast, say_old_broadcast}};

constexpr auto truth_and = [](uint8_t a, uint8_t b) { return a && b; };
constexpr auto truth_or = [](uint8_t a, uint8_t b) { return a || b; };
constexpr auto truth_xor = [](uint8_t a, uint8_t b) { return !a != !b; };

constexpr OpRules table[] = {
    rules<Equal>(),
    with_answers(comparison_over<op::Less, NumberCarriers>(std::less<>()),
                 [](const DimFacts& f, Dim a, Dim b) { return f.surely_less(a, b); })
        .with(bool_revisions),
    with_answers(comparison_over<op::Greater, NumberCarriers>(std::greater<>()),
                 [](const DimFacts& f, Dim a, Dim b) { return f.surely_less(b, a); })
        .with(bool_revisions),
    with_answers(comparison_over<op::LessOrEqual, NumberCarriers>(std::less_equal<>()),
                 [](const DimFacts& f, Dim a, Dim b) { return f.surely_less_equal(a, b); })
        .with(less_or_equal_expansions),
    with_answers(comparison_over<op::GreaterOrEqual, NumberCarriers>(std::greater_equal<>()),
                 [](const DimFacts& f, Dim a, Dim b) { return f.surely_less_equal(b, a); })
        .with(greater_or_equal_expansions),
    binary_over<op::And, BoolCarrier>(truth_and).with(bool_revisions).commuting(),
    binary_over<op::Or, BoolCarrier>(truth_or).with(bool_revisions).commuting(),
    binary_over<op::Xor, BoolCarrier>(truth_xor).with(bool_revisions).commuting(),
};

}  // namespace

std::span<const OpRules> logic_rules() { return table; }

}  // namespace cameo::ops
