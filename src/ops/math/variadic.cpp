// Max, Min, Mean, Sum: any number of tensors under broadcasting.
#include <algorithm>
#include <cmath>

#include "ops/families.h"
#include "ops/math/elementwise.h"
#include "ops/math/int_contents.h"
#include "ops/math/revisions.h"
#include "ops/on.h"
#include "ops/operands.h"

namespace cameo::ops {

namespace {

template <class C>
bool is_nan(C x) {
  if constexpr (std::is_floating_point_v<C>) return std::isnan(x);
  else return false;
}
// A NaN anywhere wins.
constexpr auto larger = [](auto a, decltype(a) b) { return a > b || is_nan(a) ? a : b; };
constexpr auto smaller = [](auto a, decltype(a) b) { return a < b || is_nan(a) ? a : b; };
constexpr auto sum = [](auto a, decltype(a) b) { return a + b; };

template <class C, class F>
std::vector<C> fold_operands(Eval& k, BroadcastRows& rows, F f) {
  std::vector<C> out(static_cast<size_t>(rows.count()));
  std::vector<Loaded<C>> in;
  for (size_t i = 0; i < k.in_count(); ++i) in.emplace_back(k.in(i));
  for (; !rows.done(); rows.next())
    for (size_t i = 0; i < in.size(); ++i) {
      const C* p = in[i].data() + rows.start(i);
      C* o = out.data() + rows.out();
      for (int64_t j = 0; j < rows.row_length(); ++j)
        o[j] = i == 0 ? p[j * rows.step(0)] : static_cast<C>(f(o[j], p[j * rows.step(i)]));
    }
  return out;
}

template <class Carriers, class F, class Finish>
void eval_variadic(Eval& k, F f, Finish finish) {
  std::vector<const Tensor*> operands;
  for (size_t i = 0; i < k.in_count(); ++i) operands.push_back(&k.in(i));
  if (operands.empty()) k.fail("eval.input", "there are no operands");
  BroadcastRows rows(operands);
  k.out(0, Carriers::with(operands[0]->dtype(), [&](auto c) {
          auto all = fold_operands<decltype(c)>(k, rows, f);
          for (auto& v : all) v = finish(v, operands.size());
          return store(operands[0]->dtype(), rows.shape(), all);
        }));
}

template <class Attrs, class Carriers, class F, class Finish>
constexpr Row variadic(F, Finish, void (*infer)(const void*, Infer&)) {
  Row out;
  out.attrs_tag = &type_tag<Attrs>;
  out.infer = infer;
  out.eval = [](const void*, Eval& k) { eval_variadic<Carriers>(k, F{}, Finish{}); };
  out.commutative = true;
  out.revisions = broadcasting_since_8;
  return out;
}
constexpr auto as_is = [](auto v, size_t) { return v; };

bool complete(const Graph& g, NodeId n) {
  const auto& inputs = g[n].inputs;
  return !inputs.empty() && std::all_of(inputs.begin(), inputs.end(), [](ValueId v) { return v.valid(); });
}
bool shapes_differ(const Graph& g, NodeId n) {
  const auto& inputs = g[n].inputs;
  if (!complete(g, n)) return false;
  for (const ValueId v : inputs)
    if (g[v].fact.type.shape != g[inputs[0]].fact.type.shape || !g[v].fact.has_rank()) return true;
  return false;
}

ValueId add_all(Expand& e) {
  ValueId total = e.in(0);
  for (size_t i = 1; i < e.graph[e.node].inputs.size(); ++i) total = e.on.Add(total, e.in(i));
  return total;
}
// Before 8 these did not broadcast; Add and Div do from 7 on.
constexpr Expansion sum_expansions[] = {expansion<op::Sum>(
    8, Exactness::exact, [](const op::Sum&, Expand& e) { e.replace({add_all(e)}); },
    [](const op::Sum&, const Graph& g, NodeId n, int64_t) { return shapes_differ(g, n); })};
constexpr Expansion mean_expansions[] = {expansion<op::Mean>(
    8, Exactness::exact,
    [](const op::Mean&, Expand& e) {
      const auto count = static_cast<double>(e.graph[e.node].inputs.size());
      e.replace({e.on.Div(add_all(e), e.on.number_like(count, e.in(0)))});
    },
    [](const op::Mean&, const Graph& g, NodeId n, int64_t) { return shapes_differ(g, n); })};

// Before 12 these took no integers, and no float holds all of 64 bits: they are compared and chosen.
bool on_wide_ints(const Graph& g, NodeId n) {
  const DType t = input_fact(g, n, 0).dtype();
  return complete(g, n) && is_int(t) && bits(t) == 64;
}
// Unsigned numbers as their bits read signed, which engines compare and choose more often: those with the sign set are
// the larger ones.
ValueId unsigned_less(On& on, ValueId a, ValueId b) {
  const ValueId zero = on.int_scalar(0), a_high = on.Less(a, zero), b_high = on.Less(b, zero);
  return on.Or(on.And(b_high, on.Not(a_high)), on.And(on.Not(on.Xor(a_high, b_high)), on.Less(a, b)));
}
void choose_pairwise(Expand& e, bool largest) {
  On& on = e.on;
  const size_t count = e.graph[e.node].inputs.size();
  const bool is_unsigned = e.dtype(0) == DType::u64;
  const auto less = [&](ValueId a, ValueId b) { return is_unsigned ? unsigned_less(on, a, b) : on.Less(a, b); };
  ValueId best = on.cast(e.in(0), DType::i64);
  for (size_t i = 1; i < count; ++i) {
    const ValueId next = on.cast(e.in(i), DType::i64), better = largest ? less(best, next) : less(next, best);
    best = on.Where(better, next, best);
  }
  e.replace({on.cast(best, e.dtype(0))});
}
constexpr Expansion max_expansions[] = {expansion<op::Max>(
    12, Exactness::exact, [](const op::Max&, Expand& e) { choose_pairwise(e, true); },
    [](const op::Max&, const Graph& g, NodeId n, int64_t) { return on_wide_ints(g, n); })};
constexpr Expansion min_expansions[] = {expansion<op::Min>(
    12, Exactness::exact, [](const op::Min&, Expand& e) { choose_pairwise(e, false); },
    [](const op::Min&, const Graph& g, NodeId n, int64_t) { return on_wide_ints(g, n); })};

constexpr OpRules table[] = {
    variadic<op::Max, NumberCarriers>(larger, as_is,
                                      [](const void*, Infer& c) {
                                        infer_broadcast_all(c);
                                        zip_contents(c, [](Dim a, Dim b) { return max(a, b); });
                                      })
        .with(max_expansions),
    variadic<op::Min, NumberCarriers>(smaller, as_is,
                                      [](const void*, Infer& c) {
                                        infer_broadcast_all(c);
                                        zip_contents(c, [](Dim a, Dim b) { return min(a, b); });
                                      })
        .with(min_expansions),
    variadic<op::Sum, FloatCarriers>(sum, as_is, [](const void*, Infer& c) { infer_broadcast_all(c); })
        .with(sum_expansions),
    variadic<op::Mean, FloatCarriers>(
        sum, [](auto v, size_t n) { return v / static_cast<decltype(v)>(n); },
        [](const void*, Infer& c) { infer_broadcast_all(c); })
        .with(mean_expansions),
};

}  // namespace

std::span<const OpRules> variadic_rules() { return table; }

}  // namespace cameo::ops
