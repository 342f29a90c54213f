// Split: one axis cut into parts.
#include <algorithm>

#include "ops/eval.h"
#include "ops/computed.h"
#include "ops/infer.h"
#include "ops/on.h"
#include "ops/tensor/contents.h"

namespace cameo::ops {

namespace {

// Parts of equal size, the last one smaller where it does not go evenly.
std::vector<int64_t> even_parts(int64_t size, int64_t parts) {
  const int64_t chunk = size / parts + (size % parts != 0);
  std::vector<int64_t> out;
  for (int64_t i = 0; i < parts; ++i) out.push_back(std::clamp<int64_t>(size - i * chunk, 0, chunk));
  return out;
}

struct Split : Rules<op::Split> {
  static void infer(const op::Split& a, Infer& c) {
    const int64_t axis = c.axis(a.axis, c.rank(0));
    if (c.has(1) == a.num_outputs.has_value())
      c.fail("infer.split", c.has(1) ? "it has both sizes of parts and num_outputs; ONNX allows one of them"
                                     : "it has neither sizes of parts nor num_outputs; ONNX needs one of them");
    const auto sizes = c.has(1) ? given(c, c.dim(0, axis)) : even(c, c.dim(0, axis));
    Shape part = c.shape(0);
    for (size_t i = 0; i < c.out_count(); ++i) {
      part[static_cast<size_t>(axis)] = sizes[i];
      c.out(i, part);
    }
    move_contents(c);
  }

  static std::vector<Dim> given(Infer& c, Dim whole) {
    auto sizes = c.ints(1);
    if (!sizes) return c.fresh_shape(static_cast<int64_t>(c.out_count()));
    if (sizes->size() != c.out_count())
      c.fail("infer.split", cat(sizes->size(), " sizes for ", c.out_count(), " outputs"));
    Dim sum;
    for (const Dim d : *sizes) {
      if (d.is_literal() && d.literal() < 0) c.fail("infer.split", cat("a part of size ", d.literal()));
      sum = sum + d;
    }
    c.same(sum, whole, "sum of the parts and size of the axis");
    return *sizes;
  }

  static std::vector<Dim> even(Infer& c, Dim whole) {
    const auto parts = static_cast<int64_t>(c.out_count());
    if (const int64_t count = *c.node().as<op::Split>()->num_outputs; count != parts)
      c.fail("infer.split", cat("num_outputs is ", count, " and the node has ", parts, " outputs"));
    // The last part would have a negative size.
    if (whole.is_literal() && parts > whole.literal() && whole.literal() > 0)
      c.fail("infer.split", cat("an axis of ", whole.literal(), " in ", parts, " parts"));
    if (whole.is_literal()) {
      const auto sizes = even_parts(whole.literal(), parts);
      return {sizes.begin(), sizes.end()};
    }
    const DimFacts& facts = c.graph().facts;
    const Dim chunk =
        facts.simplify(facts.divisible(whole, parts) == Answer::yes ? floor_div(whole, parts) : ceil_div(whole, parts));
    std::vector<Dim> sizes(static_cast<size_t>(parts), chunk);
    if (facts.divisible(whole, parts) == Answer::yes) return sizes;
    for (int64_t i = 1; i < parts; ++i) sizes[static_cast<size_t>(i)] = min(chunk, max(whole - chunk * Dim(i), Dim()));
    return sizes;
  }

  static void eval(const op::Split& a, Eval& k) {
    const Tensor& x = k.in(0);
    const auto axis = static_cast<size_t>(k.axis(a.axis, x.rank()));
    const auto parts = static_cast<int64_t>(k.out_count());
    if (!k.has(1) && a.num_outputs.value_or(parts) != parts)
      k.fail("eval.split", cat(*a.num_outputs, " parts for ", parts, " outputs"));
    const auto sizes = k.has(1) ? k.ints(1) : even_parts(x.shape()[axis], parts);
    if (sizes.size() != k.out_count())
      k.fail("eval.split", cat(sizes.size(), " parts for ", k.out_count(), " outputs"));
    const auto strides = row_major_strides(x.shape());
    int64_t start = 0;
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] < 0 || sizes[i] > x.shape()[axis] - start)
        k.fail("eval.split", cat("a part of size ", sizes[i], " does not fit"));
      auto shape = x.shape();
      shape[axis] = sizes[i];
      k.out(i, strided(x, shape, strides, start * strides[axis]));
      start += sizes[i];
    }
    if (start != x.shape()[axis])
      k.fail("eval.split", cat("the parts sum to ", start, ", the axis has ", x.shape()[axis]));
  }

  // Opset 1 could take the sizes as a second input of the data's type.
  static void up_from_first(Upgrade& u) {
    if (!u.has("axis")) u.set("axis", int64_t{0});
    if (!u.input(1)) return;
    const auto sizes = u.contents(1);
    if (!sizes)
      throw error("model.old-encoding", "Split of opset 1 with sizes that the model computes")
          .help("save the model with opset 2 or newer");
    std::vector<int64_t> ints;
    for (const double v : sizes->to_doubles()) ints.push_back(static_cast<int64_t>(v));
    u.set("split", ints);
    u.inputs.resize(1);
  }

  static bool goes_evenly(const Graph& g, NodeId n, const op::Split& a) {
    const Fact& x = g[g.input(n, 0)].fact;
    if (!x.has_rank()) return false;
    const int64_t axis = a.axis < 0 ? a.axis + x.rank() : a.axis;
    if (axis < 0 || axis >= x.rank()) return false;
    return g.facts.divisible(x.shape()[static_cast<size_t>(axis)], static_cast<int64_t>(g[n].outputs.size())) ==
           Answer::yes;
  }

  // Parts whose sizes only the model knows, one Slice each.
  static void by_slices(const op::Split& a, Expand& e) {
    On& on = e.on;
    const bool ranked = e.fact(0).has_rank();
    if (!ranked && a.axis < 0 && e.target < 11) return e.refuse("the sizes of the parts and the rank are not known");
    const int64_t axis = a.axis < 0 && ranked ? a.axis + e.fact(0).rank() : a.axis,
                  parts = static_cast<int64_t>(e.outputs());
    ValueId chunk, start = on.ints({0});
    const auto size = [&] {
      return ranked ? size_of(on, e.in(0), axis) : on.Gather(on.Shape(e.in(0)), on.ints({axis}));
    };
    if (!e.has(1)) chunk = on.Div(on.Add(size(), on.ints({parts - 1})), on.ints({parts}));
    std::vector<ValueId> out;
    for (int64_t i = 0; i < parts; ++i) {
      const ValueId end = on.Add(start, chunk ? chunk : element(on, as_vector(on, e.in(1)), i));
      out.push_back(on.Slice(e.in(0), start, end, on.ints({axis})));
      start = end;
    }
    e.replace(std::move(out));
  }

  static void expand_uneven(const op::Split& a, Expand& e) {
    const Fact& x = e.fact(0);
    const Dim size =
        x.has_rank() ? x.shape()[static_cast<size_t>(a.axis < 0 ? a.axis + x.rank() : a.axis)] : e.graph.dims().fresh();
    if (!size.is_literal()) return by_slices(a, e);
    const auto sizes = even_parts(size.literal(), static_cast<int64_t>(e.outputs()));
    e.replace(e.on.Split(e.in(0), e.outputs(), e.on.ints(sizes), {.axis = a.axis}));
  }

  static constexpr Revision revisions[] = {
      {2, up_from_first, nullptr},
      {11, nullptr, [](Downgrade& d) { d.nonnegative_axes("axis"); }},
      {13, [](Upgrade& u) { u.attr_to_input("split", 1); }, [](Downgrade& d) { d.input_to_ints(1, "split"); }},
      // Before 18 an even split needed no count.
      {18,
       [](Upgrade& u) {
         if (!u.input(1)) u.set("num_outputs", static_cast<int64_t>(u.outputs));
       },
       [](Downgrade& d) { d.drop("num_outputs"); }},
  };
  static constexpr Expansion expansions[] = {
      expansion<op::Split>(
          13, Exactness::exact, [](const op::Split& a, Expand& e) { by_slices(a, e); },
          [](const op::Split&, const Graph& g, NodeId n, int64_t) {
            return g.input(n, 1) && !g.is_constant(g.input(n, 1));
          }),
      expansion<op::Split>(
          18, Exactness::exact, [](const op::Split& a, Expand& e) { expand_uneven(a, e); },
          [](const op::Split& a, const Graph& g, NodeId n, int64_t) { return a.num_outputs && !goes_evenly(g, n, a); }),
  };
};

constexpr OpRules table[] = {rules<Split>()};

}  // namespace

std::span<const OpRules> split_rules() { return table; }

}  // namespace cameo::ops
