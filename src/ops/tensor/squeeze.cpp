// Squeeze and Unsqueeze: axes of size 1 removed and added.
#include <algorithm>

#include "ops/eval.h"
#include "ops/computed.h"
#include "ops/infer.h"
#include "ops/tensor/axis_maps.h"
#include "ops/tensor/contents.h"

namespace cameo::ops {

namespace {

bool contains(const std::vector<int64_t>& list, size_t i) {
  return std::find(list.begin(), list.end(), static_cast<int64_t>(i)) != list.end();
}

bool computed_axes(const Graph& g, NodeId n) { return g.input(n, 1) && !g.is_constant(g.input(n, 1)); }

struct Squeeze : Rules<op::Squeeze> {
  static void infer(const op::Squeeze&, Infer& c) {
    const Shape& in = c.shape(0);
    Shape out;
    if (!c.has(1)) {
      for (const Dim d : in) {
        const Answer one = c.graph().facts.equal(d, 1);
        if (one == Answer::unknown) return;  // the rank depends on the data
        if (one == Answer::no) out.push_back(d);
      }
    } else if (const auto given = c.literal_ints(1)) {
      const auto axes = c.axes(*given, c.rank(0));
      for (size_t i = 0; i < in.size(); ++i) {
        if (contains(axes, i)) c.same(in[i], 1, cat("size of axis ", i, " and 1"));
        else out.push_back(in[i]);
      }
    } else {
      const auto count = c.length(1);
      if (count && *count > c.rank(0)) c.fail("infer.axis", cat(*count, " axes of an input of rank ", c.rank(0)));
      if (count) c.out(0, c.fresh_shape(c.rank(0) - *count));
      return;
    }
    c.out(0, out);
    keep_contents(c);
  }

  static void eval(const op::Squeeze&, Eval& k) {
    const Tensor& x = k.in(0);
    const auto axes = k.has(1) ? checked_axes(k.ints(1), x.rank()) : std::vector<int64_t>();
    std::vector<int64_t> out;
    for (size_t i = 0; i < x.shape().size(); ++i) {
      const bool drop = k.has(1) ? contains(axes, i) : x.shape()[i] == 1;
      if (drop && x.shape()[i] != 1) k.fail("eval.shape", cat("Squeeze of axis ", i, ", whose size is ", x.shape()[i]));
      if (!drop) out.push_back(x.shape()[i]);
    }
    k.out(0, x.reshaped(out));
  }

  static constexpr Revision revisions[] = {
      {11, nullptr, [](Downgrade& d) { d.nonnegative_axes("axes"); }},
      {13, [](Upgrade& u) { u.attr_to_input("axes", 1); }, [](Downgrade& d) { d.input_to_ints(1, "axes"); }},
  };
  static constexpr Expansion expansions[] = {expansion<op::Squeeze>(
      13, Exactness::exact,
      [](const op::Squeeze&, Expand& e) {
        if (!e.fact(0).has_rank()) return e.refuse("the axes are computed by the model, and the rank is not known");
        const int64_t rank = e.fact(0).rank();
        e.replace({reshape_to_kept(e.on, e.in(0), e.on.Not(axis_mask(e.on, from_front(e.on, e.in(1), rank), rank)))});
      },
      [](const op::Squeeze&, const Graph& g, NodeId n, int64_t) { return computed_axes(g, n); })};
};

struct Unsqueeze : Rules<op::Unsqueeze> {
  static void infer(const op::Unsqueeze&, Infer& c) {
    const auto given = c.literal_ints(1);
    if (!given) {
      // The length is the file's word: fresh_shape refuses what is too long.
      if (const auto count = c.length(1)) c.out(0, c.fresh_shape(std::min<int64_t>(*count, INT32_MAX) + c.rank(0)));
      return;
    }
    const auto axes = c.axes(*given, c.rank(0) + static_cast<int64_t>(given->size()));
    Shape out;
    auto next = c.shape(0).begin();
    for (size_t i = 0; i < c.shape(0).size() + axes.size(); ++i)
      out.push_back(contains(axes, i) ? Dim(int64_t{1}) : *next++);
    c.out(0, out);
    keep_contents(c);
  }

  static void eval(const op::Unsqueeze&, Eval& k) {
    const Tensor& x = k.in(0);
    const auto given = k.ints(1);
    const int64_t rank = x.rank() + static_cast<int64_t>(given.size());
    const auto axes = checked_axes(given, rank);
    std::vector<int64_t> out;
    auto next = x.shape().begin();
    for (size_t i = 0; i < static_cast<size_t>(rank); ++i) out.push_back(contains(axes, i) ? 1 : *next++);
    k.out(0, x.reshaped(out));
  }

  static constexpr Revision revisions[] = {
      {11, nullptr,
       [](Downgrade& d) {
         const auto* axes = find_attr(d.attrs, "axes");
         const auto* list = axes ? std::get_if<std::vector<int64_t>>(axes) : nullptr;
         d.nonnegative_axes("axes", list ? static_cast<int64_t>(list->size()) : 0);
       }},
      {13, [](Upgrade& u) { u.attr_to_input("axes", 1); }, [](Downgrade& d) { d.input_to_ints(1, "axes"); }},
  };

  // The input's sizes written into a shape of ones, at the places that are not new axes.
  static void by_shape(Expand& e) {
    On& on = e.on;
    const Fact& axes = e.fact(1);
    const auto count = !axes.has_rank()   ? std::nullopt
                       : axes.rank() == 0 ? std::optional<int64_t>(1)
                                          : axes.shape()[0].known();
    if (!e.fact(0).has_rank() || !count)
      return e.refuse("the axes are computed by the model, and the rank is not known");
    const int64_t rank = e.fact(0).rank() + *count;
    ValueId shape = on.ints(std::vector<int64_t>(static_cast<size_t>(rank), 1));
    if (e.fact(0).rank() > 0) {
      const ValueId old = on.Not(axis_mask(on, from_front(on, e.in(1), rank), rank));
      shape = on.ScatterElements(shape, on.Reshape(on.NonZero(old), on.ints({-1})), on.Shape(e.in(0)));
    }
    e.replace({on.Reshape(e.in(0), shape)});
  }
  static constexpr Expansion expansions[] = {expansion<op::Unsqueeze>(
      13, Exactness::exact, [](const op::Unsqueeze&, Expand& e) { by_shape(e); },
      [](const op::Unsqueeze&, const Graph& g, NodeId n, int64_t) { return computed_axes(g, n); })};
};

constexpr OpRules table[] = {rules<Squeeze>(), rules<Unsqueeze>()};

}  // namespace

std::span<const OpRules> squeeze_rules() { return table; }

}  // namespace cameo::ops
