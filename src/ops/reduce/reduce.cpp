// The ten reductions: one shape rule, one walk, a row per operator.
#include "ops/reduce/reduce.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "ops/computed.h"
#include "ops/families.h"
#include "ops/math/elementwise.h"
#include "ops/math/int_contents.h"
#include "ops/on.h"
#include "ops/preconditions.h"
#include "ops/operands.h"

namespace cameo::ops {

namespace {

struct Axes {
  bool noop_if_empty;
  // The axes to fold of a tensor of this rank; an empty list means all of them, or none.
  std::vector<int64_t> resolve(std::vector<int64_t> given, int64_t rank) const {
    if (given.empty() && !noop_if_empty) {
      given.resize(static_cast<size_t>(rank));
      std::iota(given.begin(), given.end(), int64_t{0});
    }
    return given;
  }
};

void infer_unknown_axes(Infer& c, bool keepdims) {
  if (keepdims) return c.out(0, c.fresh_shape(c.rank(0)));
  const auto count = c.length(1);
  if (count && *count > 0 && *count <= c.rank(0)) c.out(0, c.fresh_shape(c.rank(0) - *count));
}

void infer_reduced(Infer& c, bool keepdims, bool noop_if_empty) {
  const bool none = c.has(1) && c.length(1) == 0;
  if (c.has(1) && !none && !c.literal_ints(1)) return infer_unknown_axes(c, keepdims);
  const auto given = c.has(1) && !none ? c.axes(*c.literal_ints(1), c.rank(0)) : std::vector<int64_t>{};
  c.out(0, reduced_shape(c.shape(0), Axes{noop_if_empty}.resolve(given, c.rank(0)), keepdims));
}

// The sum, product ... of a vector of sizes stays known.
void fold_contents(Infer& c, DimFunction2 f) {
  const auto elements = c.ints(0);
  if (!elements || elements->empty() || c.constant(0) || c.rank(0) != 1) return;
  if (c.has(1) && !c.literal_ints(1)) return;
  try_contents(c, [&] {
    Dim total = elements->front();
    for (size_t i = 1; i < elements->size(); ++i) total = f(total, (*elements)[i]);
    return std::vector<Dim>{total};
  });
}

template <class C>
using Sum = std::conditional_t<std::is_floating_point_v<C>, double, uint64_t>;  // integers wrap

template <class C, class F>
Sum<C> total(const Line<C>& x, F f) {
  Sum<C> sum = 0;
  for (int64_t j = 0; j < x.size(); ++j) sum += f(static_cast<Sum<C>>(x[j]));
  return sum;
}
constexpr auto itself = [](auto v) { return v; };
constexpr auto squared = [](auto v) { return v * v; };
constexpr auto magnitude = [](auto v) {
  if constexpr (std::is_floating_point_v<decltype(v)>) return std::fabs(v);
  else return static_cast<int64_t>(v) < 0 ? uint64_t{0} - v : v;
};

template <class C>
double as_double(Sum<C> v) {
  if constexpr (std::is_same_v<C, int64_t>) return static_cast<double>(static_cast<int64_t>(v));
  else return static_cast<double>(v);
}

// The neutral element of a maximum (lowest) or minimum (highest).
template <class C>
C extreme(DType t, bool lowest) {
  if constexpr (std::is_floating_point_v<C>)
    return lowest ? -std::numeric_limits<C>::infinity() : std::numeric_limits<C>::infinity();
  else if (t == DType::boolean) return !lowest;
  else if (is_unsigned_int(t)) return lowest ? C{} : static_cast<C>(~uint64_t{0} >> (64 - bits(t)));
  else return static_cast<C>(lowest ? ~uint64_t{0} << (bits(t) - 1) : ~(~uint64_t{0} << (bits(t) - 1)));
}

template <class C, class Better>
C best(const Line<C>& x, C start, Better better) {
  for (int64_t j = 0; j < x.size(); ++j) {
    if constexpr (std::is_floating_point_v<C>)
      if (std::isnan(x[j])) return x[j];
    if (better(x[j], start)) start = x[j];
  }
  return start;
}

constexpr auto log_sum_exp = [](const auto& x, DType) {
  double most = -std::numeric_limits<double>::infinity(), sum = 0;
  for (int64_t j = 0; j < x.size(); ++j) most = std::max(most, static_cast<double>(x[j]));
  if (std::isinf(most)) return most;
  for (int64_t j = 0; j < x.size(); ++j) sum += std::exp(static_cast<double>(x[j]) - most);
  return most + std::log(sum);
};
constexpr auto product = []<class C>(const Line<C>& x, DType) {
  Sum<C> all = 1;
  for (int64_t j = 0; j < x.size(); ++j) all *= static_cast<Sum<C>>(x[j]);
  return all;
};
constexpr auto mean = []<class C>(const Line<C>& x, DType) {
  const double average = as_double<C>(total(x, itself)) / static_cast<double>(x.size());
  return std::is_integral_v<C> && x.size() == 0 ? 0.0 : average;
};

// Without axes nothing is folded: what is left of the operator is its elementwise part.
template <class Attrs, class Part>
constexpr Expansion without_folding = expansion<Attrs>(
    18, Exactness::exact, [](const Attrs&, Expand& e) { e.replace({Part{}(e.on, e.in(0))}); },
    [](const Attrs& a, const Graph& g, NodeId n, int64_t target) {
      if (!a.noop_with_empty_axes || (std::is_same_v<Attrs, op::ReduceSum> && target >= 13)) return false;
      const auto axes = g.input(n, 1) ? g.constant(g.input(n, 1)) : std::nullopt;
      return !g.input(n, 1) || (axes && axes->count() == 0);
    });

// Truth values came with 20. Compared with 0, because the extreme of no integers is not 0 or 1.
template <class Attrs>
constexpr Expansion truth_as_numbers = expansion<Attrs>(
    20, Exactness::exact,
    [](const Attrs& a, Expand& e) {
      On& on = e.on;
      const ValueId numbers = on.make(Attrs(a), {on.cast(e.in(0), DType::i32), e.in(1)}, 1)[0];
      e.replace({on.Greater(numbers, on.number(0, DType::i32))});
    },
    [](const Attrs&, const Graph& g, NodeId n, int64_t) { return input_fact(g, n, 0).dtype() == DType::boolean; });

// Axes that the model computes: one axis after the other, each if it is listed. What is folded so must fold step by
// step: squares are taken before and logarithms after, integers that are divided or rooted are widened meanwhile.
template <class Fold>
ValueId fold_listed(On& on, ValueId x, ValueId mask, ValueId everything) {
  const int64_t rank = on.rank(x);
  for (int64_t d = 0; d < rank; ++d) {
    ValueId listed = on.Gather(mask, on.int_scalar(d));
    if (everything) listed = on.Or(listed, everything);
    x = when(on, listed, x, [&](On& o, ValueId v) { return o.make(Fold{}, {v, o.ints({d})}, 1)[0]; });
  }
  return x;
}

template <class Attrs>
ValueId fold_computed(On& on, ValueId x, ValueId mask, ValueId everything) {
  const DType t = on.dtype(x);
  const auto fold = [&]<class Fold>(ValueId v, Fold) { return fold_listed<Fold>(on, v, mask, everything); };
  if constexpr (std::is_same_v<Attrs, op::ReduceL1>) return fold(on.Abs(x), op::ReduceSum{});
  else if constexpr (std::is_same_v<Attrs, op::ReduceSumSquare>) return fold(on.Mul(x, x), op::ReduceSum{});
  else if constexpr (std::is_same_v<Attrs, op::ReduceLogSum>)
    return on.cast(on.Log(on.cast(fold(x, op::ReduceSum{}), is_int(t) ? DType::f64 : t)), t);
  else if constexpr (std::is_same_v<Attrs, op::ReduceL2>)
    return on.cast(fold(on.cast(on.Abs(x), is_int(t) ? DType::f64 : t), Attrs{}), t);
  else if constexpr (std::is_same_v<Attrs, op::ReduceLogSumExp>)
    return on.cast(fold(on.cast(x, is_int(t) ? DType::f64 : t), Attrs{}), t);
  else if constexpr (std::is_same_v<Attrs, op::ReduceMean>) {
    if (!is_int(t)) return fold(x, Attrs{});
    const ValueId sum = fold(x, op::ReduceSum{});
    return on.Div(sum, on.cast(on.Div(on.Size(x), on.Size(sum)), t));
  } else return fold(x, Attrs{});
}

template <class Attrs>
void expand_computed_axes(const Attrs& a, Expand& e) {
  On& on = e.on;
  if (!e.fact(0).has_rank()) return e.refuse("the axes are computed by the model, and the rank is not known");
  const int64_t rank = e.fact(0).rank();
  if (rank == 0) return e.replace({on.make(Attrs(a), {e.in(0)}, 1)[0]});
  const Fact& list = e.fact(1);
  const auto length = list.has_rank() && list.rank() == 1 ? list.shape()[0].known() : std::nullopt;
  const ValueId axes = from_front(on, e.in(1), rank);
  ValueId everything;
  if (!a.noop_with_empty_axes && length.value_or(0) == 0) everything = on.Equal(on.Size(axes), on.int_scalar(0));
  const ValueId mask = axis_mask(on, axes, rank);
  ValueId y = fold_computed<Attrs>(on, e.in(0), mask, everything);
  if (!a.keepdims) y = reshape_to_kept(on, y, on.Not(everything ? on.Or(mask, everything) : mask));
  e.replace({y});
}

template <class Attrs>
constexpr Expansion computed_axes = expansion<Attrs>(
    std::is_same_v<Attrs, op::ReduceSum> ? 13 : 18, Exactness::rounding,
    [](const Attrs& a, Expand& e) { expand_computed_axes(a, e); },
    [](const Attrs&, const Graph& g, NodeId n, int64_t) { return g.input(n, 1) && !g.is_constant(g.input(n, 1)); });

template <int version>
constexpr Revision axes_to_input = {version, [](Upgrade& u) { u.attr_to_input("axes", 1); },
                                    [](Downgrade& d) {
                                      const bool noop = d.take_int("noop_with_empty_axes").value_or(0) != 0;
                                      d.input_to_ints(1, "axes");
                                      const AttrValue* axes = find_attr(d.attrs, "axes");
                                      const bool none = !axes || std::get<std::vector<int64_t>>(*axes).empty();
                                      if (none && noop) d.refuse("a reduction over no axes");
                                      if (none) d.drop("axes");
                                    }};
constexpr Revision nonnegative_before_11 = {11, nullptr, [](Downgrade& d) { d.nonnegative_axes("axes"); }};

constexpr Dim (*no_contents)(Dim, Dim) = nullptr;

// F(line, dtype) folds the carriers of one line; Part(on, x) is what remains without axes.
template <class Attrs, class Carriers, class F, class Part, DimFunction2 dims>
struct Reduction : Rules<Attrs> {
  static void infer(const Attrs& a, Infer& c) {
    want_flag(c, "keepdims", a.keepdims);
    infer_reduced(c, a.keepdims != 0, a.noop_with_empty_axes != 0);
    if constexpr (dims != nullptr) fold_contents(c, dims);
  }
  static void eval(const Attrs& a, Eval& k) {
    const Tensor& x = k.in(0);
    const std::vector<int64_t> given = k.axes(k.has(1) ? k.ints(1) : std::vector<int64_t>{}, x.rank());
    const FoldedAxes fold(x.shape(), Axes{a.noop_with_empty_axes != 0}.resolve(given, x.rank()), a.keepdims != 0);
    k.out(0, Carriers::with(x.dtype(), [&](auto c) {
            using C = decltype(c);
            const Loaded<C> in(x);
            using R = decltype(F{}(Line<C>{}, DType{}));
            using Stored = std::conditional_t<std::is_same_v<C, float> && std::is_same_v<R, double>, float, R>;
            std::vector<Stored> out;
            const bool none = fold.folded.empty();  // of nothing, there may be no data to point into
            for (const int64_t first : fold.kept)
              out.push_back(
                  static_cast<Stored>(F{}(Line<C>{none ? in.data() : in.data() + first, fold.folded}, x.dtype())));
            return store(x.dtype(), fold.shape, out);
          }));
  }
  static constexpr int axes_since = std::is_same_v<Attrs, op::ReduceSum> ? 13 : 18;
  static constexpr Revision revisions[] = {axes_to_input<axes_since>, nonnegative_before_11};
  static constexpr Expansion expansions[] = {without_folding<Attrs, Part>, truth_as_numbers<Attrs>,
                                             computed_axes<Attrs>};
};
template <class Attrs, class Carriers, DimFunction2 dims = no_contents, class F, class Part>
constexpr OpRules reduction(F, Part) {
  return rules<Reduction<Attrs, Carriers, F, Part, dims>>();
}

constexpr auto alone = [](On&, ValueId x) { return x; };
constexpr auto absolute = [](On& on, ValueId x) { return on.Abs(x); };

Dim add(Dim a, Dim b) { return a + b; }
Dim times(Dim a, Dim b) { return a * b; }
Dim larger(Dim a, Dim b) { return max(a, b); }
Dim smaller(Dim a, Dim b) { return min(a, b); }

constexpr OpRules table[] = {
    reduction<op::ReduceSum, NumberCarriers, add>([](const auto& x, DType) { return total(x, itself); }, alone),
    reduction<op::ReduceProd, NumberCarriers, times>(product, alone),
    reduction<op::ReduceMean, NumberCarriers>(mean, alone),
    reduction<op::ReduceMax, AllCarriers, larger>(
        []<class C>(const Line<C>& x, DType t) { return best(x, extreme<C>(t, true), std::greater<>()); }, alone),
    reduction<op::ReduceMin, AllCarriers, smaller>(
        []<class C>(const Line<C>& x, DType t) { return best(x, extreme<C>(t, false), std::less<>()); }, alone),
    reduction<op::ReduceL1, NumberCarriers>([](const auto& x, DType) { return total(x, magnitude); }, absolute),
    reduction<op::ReduceL2, NumberCarriers>(
        []<class C>(const Line<C>& x, DType) { return std::sqrt(as_double<C>(total(x, squared))); }, absolute),
    reduction<op::ReduceSumSquare, NumberCarriers>([](const auto& x, DType) { return total(x, squared); },
                                                   [](On& on, ValueId x) { return on.Mul(x, x); }),
    reduction<op::ReduceLogSum, NumberCarriers>(
        []<class C>(const Line<C>& x, DType) { return std::log(as_double<C>(total(x, itself))); },
        [](On& on, ValueId x) { return on.Log(x); }),
    reduction<op::ReduceLogSumExp, NumberCarriers>(log_sum_exp, alone),
};

}  // namespace

std::span<const OpRules> reduce_rules() { return table; }

}  // namespace cameo::ops
