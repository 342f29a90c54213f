// ArgMax, ArgMin: where the extreme elements of an axis are.
#include "kernels/axis.h"
#include "ops/families.h"
#include "ops/math/elementwise.h"
#include "ops/on.h"
#include "ops/operands.h"
#include "ops/preconditions.h"
#include "ops/reduce/extreme.h"
#include "ops/reduce/reduce.h"

namespace cameo::ops {

namespace {

template <class Attrs, bool largest>
struct Arg : Rules<Attrs> {
  static void infer(const Attrs& a, Infer& c) {
    want_flag(c, "keepdims", a.keepdims);
    const int64_t axis[] = {c.axis(a.axis, c.rank(0))};
    if (c.dim(0, axis[0]).is(0) && !element_count(reduced_shape(c.shape(0), axis, false)).is(0) &&
        known_shape(c.shape(0)))
      c.fail("infer.size", "the axis to search is empty");
    c.out(0, reduced_shape(c.shape(0), axis, a.keepdims != 0));
  }

  static void eval(const Attrs& a, Eval& k) {
    const Tensor& x = k.in(0);
    const int64_t axis[] = {k.axis(a.axis, x.rank())};
    const FoldedAxes fold(x.shape(), axis, a.keepdims != 0);
    if (fold.folded.empty() && !fold.kept.empty()) k.fail("eval.empty", "the axis to search is empty");
    k.out(0, NumberCarriers::with(x.dtype(), [&](auto c) {
            using C = decltype(c);
            const Loaded<C> in(x);
            std::vector<int64_t> out;
            for (const int64_t first : fold.kept)
              out.push_back(find(Line<C>{in.data() + first, fold.folded}, a.select_last_index != 0));
            return store(DType::i64, fold.shape, out);
          }));
  }

  template <class C>
  static int64_t find(const Line<C>& x, bool last) {
    int64_t at = 0;
    for (int64_t j = 1; j < x.size(); ++j) {
      const bool better = largest ? below(x[at], x[j]) : below(x[j], x[at]);
      const bool as_good = largest ? !below(x[j], x[at]) : !below(x[at], x[j]);
      if (better || (last && as_good)) at = j;
    }
    return at;
  }

  // The last one is the first one of the reversed axis.
  static constexpr Expansion expansions[] = {expansion<Attrs>(
      12, Exactness::exact,
      [](const Attrs& a, Expand& e) {
        const auto place = axis_of(e, a.axis);
        if (!place) return;
        const int64_t axis = *place;
        const auto size = e.fact(0).shape()[static_cast<size_t>(axis)].known();
        if (!size) return e.refuse("the length of the axis is not known");
        On& on = e.on;
        const ValueId reversed =
            on.Slice(e.in(0), on.ints({-1}), on.ints({INT64_MIN + 1}), on.ints({axis}), on.ints({-1}));
        const ValueId found = on.make(Attrs{.axis = axis, .keepdims = a.keepdims}, {reversed}, 1)[0];
        e.replace({on.Sub(on.int_scalar(*size - 1), found)});
      },
      [](const Attrs& a, const Graph&, NodeId, int64_t) { return a.select_last_index != 0; })};
  static constexpr Revision revisions[] = {
      {11, nullptr, [](Downgrade& d) { d.nonnegative_axes("axis"); }},
      {12, nullptr, [](Downgrade& d) { d.drop_default("select_last_index", int64_t{0}); }},
  };
};

constexpr OpRules table[] = {rules<Arg<op::ArgMax, true>>(), rules<Arg<op::ArgMin, false>>()};

}  // namespace

std::span<const OpRules> arg_rules() { return table; }

}  // namespace cameo::ops
