// TopK.
#include <algorithm>
#include <numeric>

#include "kernels/axis.h"
#include "ops/families.h"
#include "ops/math/elementwise.h"
#include "ops/math/revisions.h"
#include "ops/on.h"
#include "ops/operands.h"
#include "ops/preconditions.h"
#include "ops/reduce/extreme.h"
#include "ops/reduce/reduce.h"

namespace cameo::ops {

namespace {

struct TopK : Rules<op::TopK> {
  static void infer(const op::TopK& a, Infer& c) {
    const auto axis = static_cast<size_t>(c.axis(a.axis, c.rank(0)));
    Shape out = c.shape(0);
    want_one(c, 1, "k");
    const auto k = c.ints(1);
    if (k && k->size() != 1) c.fail("infer.shape", cat("k has ", k->size(), " elements, not one"));
    out[axis] = k ? k->front() : c.fresh("k");
    if (const auto size = c.dim(0, static_cast<int64_t>(axis)).known(), wanted = out[axis].known();
        size && wanted && (*wanted > *size || *wanted < 0))
      c.fail("infer.size", cat("the ", *wanted, " best of ", *size, " elements are asked for"));
    c.out(0, out);
    c.out(1, std::move(out));
  }

  static void eval(const op::TopK& a, Eval& k) {
    const Tensor& x = k.in(0);
    const int64_t axis = k.axis(a.axis, x.rank()), wanted = k.int_scalar(1);
    const AxisView view(x.shape(), axis);
    if (wanted < 0 || wanted > view.size)
      k.fail("eval.size", cat("the ", wanted, " best of ", view.size, " elements are asked for"));
    auto shape = x.shape();
    shape[static_cast<size_t>(axis)] = wanted;
    std::vector<int64_t> places(static_cast<size_t>(element_count(shape))), indices(places.size());
    if (!places.empty())
      with_carrier(x.dtype(), [&](auto c) {
        const Loaded<decltype(c)> in(x);
        std::vector<int64_t> order(static_cast<size_t>(view.size));
        view.each_line([&](int64_t first, int64_t step) {
          const int64_t block = first / (view.size * view.inner), inner = first % view.inner;
          sort_line(in, order, first, step, wanted, a.largest != 0);
          for (int64_t j = 0; j < wanted; ++j) {
            const auto at = static_cast<size_t>((block * wanted + j) * view.inner + inner);
            indices[at] = order[static_cast<size_t>(j)];
            places[at] = first + order[static_cast<size_t>(j)] * step;
          }
        });
      });
    k.out(0, take(x, shape, places));
    k.out(1, store(DType::i64, shape, indices));
  }

  // Equal elements keep the order of their places.
  template <class C>
  static void sort_line(const Loaded<C>& in, std::vector<int64_t>& order, int64_t first, int64_t step, int64_t wanted,
                        bool largest) {
    std::iota(order.begin(), order.end(), int64_t{0});
    std::partial_sort(order.begin(), order.begin() + wanted, order.end(), [&](int64_t i, int64_t j) {
      const C a = in[first + i * step], b = in[first + j * step];
      if (below(a, b)) return !largest;
      return below(b, a) ? largest : i < j;
    });
  }

  static constexpr Revision revisions[] = {
      {10,
       [](Upgrade& u) {
         if (const auto k = u.take_int("k")) u.set_input(1, u.constant(Tensor::ints(std::vector{*k})));
       },
       [](Downgrade& d) { d.input_to_int(1, "k"); }},
      // Sorted results are also right if any order is allowed.
      {11, nullptr,
       [](Downgrade& d) { d.drop("sorted"), d.drop_default("largest", int64_t{1}), plain_axis(d, "axis", -1); }},
  };
  // All of them sorted, cut to a number that only the model knows.
  static void of_all(const op::TopK& a, Expand& e) {
    On& on = e.on;
    const auto place = axis_of(e, a.axis);
    if (!place) return;
    const int64_t axis = *place;
    const auto size = e.fact(0).shape()[static_cast<size_t>(axis)].known();
    if (!size) return e.refuse("neither k nor the size of the axis is known before the model runs");
    auto found = on.TopK(e.in(0), on.ints({*size}), 2, a);
    const ValueId k = on.Reshape(e.in(1), on.ints({1}));
    for (ValueId& v : found) v = on.Slice(v, on.ints({0}), k, on.ints({axis}));
    e.replace(std::move(found));
  }

  static constexpr Expansion expansions[] = {
      expansion<op::TopK>(
          10, Exactness::exact, [](const op::TopK& a, Expand& e) { of_all(a, e); },
          [](const op::TopK&, const Graph& g, NodeId n, int64_t) { return !g.is_constant(g.input(n, 1)); }),
      expansion<op::TopK>(
          11, Exactness::exact,
          [](const op::TopK& a, Expand& e) {
            On& on = e.on;
            const auto found = on.TopK(on.Neg(e.in(0)), e.in(1), 2, op::TopK{.axis = a.axis});
            e.replace({on.Neg(found[0]), found[1]});
          },
          [](const op::TopK& a, const Graph&, NodeId, int64_t) { return a.largest == 0; })};
};

constexpr OpRules table[] = {rules<TopK>()};

}  // namespace

std::span<const OpRules> top_k_rules() { return table; }

}  // namespace cameo::ops
