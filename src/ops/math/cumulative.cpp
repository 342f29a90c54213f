// CumSum, CumProd.
#include "kernels/axis.h"
#include "ops/computed.h"
#include "ops/families.h"
#include "ops/math/elementwise.h"
#include "ops/on.h"
#include "ops/operands.h"
#include "ops/preconditions.h"

namespace cameo::ops {

namespace {

// The result looks like the input; the axis is one number, and inside where it is known.
void infer_scan(Infer& c) {
  want_one(c, 1, "axis");
  if (c.rank(0) == 0) c.fail("infer.rank", "a scalar has no axis to add up along");
  if (const auto axis = c.literal_ints(1); axis && axis->size() == 1) c.axis(axis->front(), c.rank(0));
  infer_like_first(c);
}

template <class Attrs, class F>
void scan_lines(const Attrs& a, Eval& k, int neutral, F f) {
  const Tensor& x = k.in(0);
  const AxisView view(x.shape(), k.axis(k.int_scalar(1), x.rank()));
  k.out(0, NumberCarriers::with(x.dtype(), [&](auto c) {
          using C = decltype(c);
          const Loaded<C> in(x);
          std::vector<C> out(static_cast<size_t>(x.count()));
          view.each_line([&](int64_t first, int64_t step) {
            C total = static_cast<C>(neutral);
            for (int64_t i = 0; i < view.size; ++i) {
              const int64_t at = first + (a.reverse ? view.size - 1 - i : i) * step;
              const C before = total;
              total = f(total, in[at]);
              out[static_cast<size_t>(at)] = a.exclusive ? before : total;
            }
          });
          return store(x.dtype(), x.shape(), out);
        }));
}

// Every doubling step joins each element with the one 1, 2, 4 ... places before it.
template <class Attrs, class F>
void expand_scan(const Attrs& a, Expand& e, int neutral, F join) {
  On& on = e.on;
  const auto axis_value = e.graph.constant(e.in(1));
  if (!e.fact(0).has_rank() || e.fact(0).rank() == 0) return e.refuse("the rank is not known, or 0");
  if (!axis_value || axis_value->count() != 1) {
    const ValueId x = e.in(0);
    return e.replace({by_axis(on, e.in(1), e.fact(0).rank(), [&](On& o, int64_t d) {
      return o.make(Attrs(a), {x, o.int_scalar(d)}, 1)[0];
    })});
  }
  const auto place = axis_of(e, axis_value->int_at(0));
  if (!place) return;
  const int64_t rank = e.fact(0).rank(), axis = *place;
  const auto size = e.fact(0).shape()[static_cast<size_t>(axis)].known();
  if (!size) return e.refuse("the length of the axis is not known");
  const ValueId axes = on.ints({axis});
  ValueId y = e.in(0);
  const ValueId filler = on.number_like(neutral, y);
  const auto shifted = [&](ValueId v, int64_t by) {
    const ValueId from = on.ints({a.reverse ? by : 0}), to = on.ints({a.reverse ? *size : *size - by});
    std::vector<int64_t> pads(static_cast<size_t>(2 * rank), 0);
    pads[static_cast<size_t>(a.reverse ? rank + axis : axis)] = by;
    return on.Pad(on.Slice(v, from, to, axes), on.ints(pads), filler);
  };
  if (a.exclusive && *size > 0) y = shifted(y, 1);
  for (int64_t by = 1; by < *size; by = by < *size - by ? 2 * by : *size) y = join(on, y, shifted(y, by));
  e.replace({y});
}

struct CumSum : Rules<op::CumSum> {
  static void infer(const op::CumSum&, Infer& c) { infer_scan(c); }
  static void eval(const op::CumSum& a, Eval& k) {
    scan_lines(a, k, 0, [](auto total, decltype(total) x) {
      if constexpr (std::is_integral_v<decltype(total)>)
        return static_cast<decltype(total)>(static_cast<uint64_t>(total) + static_cast<uint64_t>(x));
      else return total + x;
    });
  }
  static constexpr Expansion expansions[] = {
      expansion<op::CumSum>(11, Exactness::rounding, [](const op::CumSum& a, Expand& e) {
        expand_scan(a, e, 0, [](On& on, ValueId x, ValueId y) { return on.Add(x, y); });
      })};
};

struct CumProd : Rules<op::CumProd> {
  static void infer(const op::CumProd&, Infer& c) { infer_scan(c); }
  static void eval(const op::CumProd& a, Eval& k) {
    scan_lines(a, k, 1, [](auto total, decltype(total) x) {
      if constexpr (std::is_integral_v<decltype(total)>)
        return static_cast<decltype(total)>(static_cast<uint64_t>(total) * static_cast<uint64_t>(x));
      else return total * x;
    });
  }
  static constexpr Expansion expansions[] = {
      expansion<op::CumProd>(26, Exactness::rounding, [](const op::CumProd& a, Expand& e) {
        expand_scan(a, e, 1, [](On& on, ValueId x, ValueId y) { return on.Mul(x, y); });
      })};
};

constexpr OpRules table[] = {rules<CumSum>(), rules<CumProd>()};

}  // namespace

std::span<const OpRules> cumulative_rules() { return table; }

}  // namespace cameo::ops
