// Range.
#include <cmath>

#include "kernels/axis.h"
#include "ops/computed.h"
#include "ops/families.h"
#include "ops/math/elementwise.h"
#include "ops/math/int_contents.h"
#include "ops/on.h"
#include "ops/operands.h"
#include "ops/preconditions.h"

namespace cameo::ops {

namespace {

struct Range : Rules<op::Range> {
  static constexpr int64_t most_elements = int64_t{1} << 31;

  static void infer(const op::Range&, Infer& c) {
    for (size_t i = 0; i < 3; ++i) want_one(c, i, i == 0 ? "start" : i == 1 ? "limit" : "delta");
    const auto start = c.ints(0), limit = c.ints(1), delta = c.ints(2);
    const auto one = [](const auto& list) { return list && list->size() == 1; };
    if (one(start) && one(limit) && one(delta) && is_int(c.dtype(0)))
      return infer_ints(c, (*start)[0], (*limit)[0], (*delta)[0]);
    const Tensor *s = c.constant(0), *l = c.constant(1), *d = c.constant(2);
    if (s && l && d && is_float(c.dtype(0)))
      return c.out(0, {Dim(count(s->double_at(0), l->double_at(0), d->double_at(0)))});
    c.out(0, {c.fresh("range")});
  }

  static void infer_ints(Infer& c, Dim start, Dim limit, Dim delta) {
    if (!delta.is_literal()) return c.out(0, {c.fresh("range")});
    if (delta.is(0)) c.fail("infer.range", "delta is 0");
    const Dim steps = delta.literal() > 0 ? ceil_div(limit - start, delta) : ceil_div(start - limit, -delta);
    const Dim n = c.graph().facts.simplify(max(steps, Dim(int64_t{0})));
    c.out(0, {n});
    constexpr int64_t most_known = 1024;
    if (!n.is_literal() || n.literal() > most_known || (start.is_literal() && limit.is_literal())) return;
    try_contents(c, [&] {
      std::vector<Dim> out;
      for (int64_t i = 0; i < n.literal(); ++i) out.push_back(start + Dim(i) * delta);
      return out;
    });
  }

  static int64_t count(double start, double limit, double delta) {
    const double n = std::ceil((limit - start) / delta);
    if (std::isnan(n) || n > static_cast<double>(most_elements))
      Eval::fail("eval.range", cat("a range from ", start, " to ", limit, " by ", delta, " is too long"));
    return n > 0 ? static_cast<int64_t>(n) : 0;
  }

  static void eval(const op::Range&, Eval& k) {
    const DType t = k.in(0).dtype();
    if (is_float(t)) {
      const double start = k.double_scalar(0), delta = k.double_scalar(2);
      std::vector<double> out(static_cast<size_t>(count(start, k.double_scalar(1), delta)));
      for (size_t i = 0; i < out.size(); ++i) out[i] = start + static_cast<double>(i) * delta;
      return k.out(0, store(t, {static_cast<int64_t>(out.size())}, out));
    }
    const int64_t start = k.int_scalar(0), limit = k.int_scalar(1), delta = k.int_scalar(2);
    if (delta == 0) k.fail("eval.range", "delta is 0");
    std::vector<int64_t> out;
    uint64_t room = delta > 0 ? static_cast<uint64_t>(limit) - static_cast<uint64_t>(start)
                              : static_cast<uint64_t>(start) - static_cast<uint64_t>(limit);
    const uint64_t step = delta > 0 ? static_cast<uint64_t>(delta) : uint64_t{0} - static_cast<uint64_t>(delta);
    if (delta > 0 ? limit <= start : limit >= start) room = 0;
    const uint64_t n = room / step + (room % step != 0);
    if (n > static_cast<uint64_t>(most_elements)) k.fail("eval.range", cat("a range of ", n, " elements is too long"));
    for (uint64_t i = 0; i < n; ++i)
      out.push_back(static_cast<int64_t>(static_cast<uint64_t>(start) + i * static_cast<uint64_t>(delta)));
    k.out(0, store(t, {static_cast<int64_t>(n)}, out));
  }

  // Counts the ones, takes their positions, and computes start + i * delta.
  static void by_counting(Expand& e) {
    On& on = e.on;
    const DType t = e.dtype(0);
    const DType wide = is_float(t) ? t : DType::f64;
    const ValueId span = on.cast(on.Sub(e.in(1), e.in(0)), wide), steps = on.Ceil(on.Div(span, on.cast(e.in(2), wide)));
    const ValueId n = on.cast(on.Where(on.Less(steps, on.number(0, wide)), on.number(0, wide), steps), DType::i64);
    const ValueId ones = on.ConstantOfShape(on.Reshape(n, on.ints({1})),
                                            op::ConstantOfShape{.value = Tensor::ints(std::vector<int64_t>{1})});
    const ValueId index = on.cast(on.Reshape(on.NonZero(ones), on.ints({-1})), t);
    e.replace({on.Add(e.in(0), on.Mul(index, e.in(2)))});
  }

  static constexpr Revision revisions[] = {{27, nullptr, [](Downgrade& d) { d.drop("stash_type"); }}};
  static constexpr Expansion expansions[] = {
      // Half floats came with 27, computed in the stash type.
      expansion<op::Range>(
          27, Exactness::exact,
          [](const op::Range& a, Expand& e) {
            On& on = e.on;
            const DType wide = dtype_from_number(a.stash_type).value_or(DType::undefined);
            if (wide != DType::f32 && wide != DType::f64) return e.refuse("stash_type is neither float nor double");
            e.replace({on.cast(on.Range(on.cast(e.in(0), wide), on.cast(e.in(1), wide), on.cast(e.in(2), wide)),
                               e.dtype(0))});
          },
          [](const op::Range&, const Graph& g, NodeId n, int64_t) {
            const DType t = input_fact(g, n, 0).dtype();
            return t == DType::f16 || t == DType::bf16;
          }),
      expansion<op::Range>(11, Exactness::rounding, [](const op::Range&, Expand& e) { by_counting(e); }),
  };
};

constexpr OpRules table[] = {rules<Range>()};

}  // namespace

std::span<const OpRules> range_rules() { return table; }

}  // namespace cameo::ops
