// Reshape and Flatten: the same elements under another shape.
#include <algorithm>

#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/tensor/contents.h"

namespace cameo::ops {

namespace {

Dim product(const Shape& dims) { return element_count(dims); }

// Removes from both what they share, so that the rest is small: [n,3,8] and [n,24] leave [3,8] and [24].
void cancel(Shape& a, Shape& b) {
  std::erase_if(a, [&](Dim d) {
    const auto it = std::find(b.begin(), b.end(), d);
    if (it == b.end() || d.is(0)) return false;
    b.erase(it);
    return true;
  });
}

// The size that -1 stands for: all elements divided by the other sizes, which must go evenly.
Dim missing_size(Infer& c, Shape all, Shape others) {
  cancel(all, others);
  const Dim total = product(all), rest = product(others);
  if (rest.is(0)) {
    if (total.is(0)) return 0;
    c.fail("infer.reshape", "-1 cannot be solved beside a size of 0");
  }
  if (rest.is_literal()) {
    DimFacts& facts = c.graph().facts;
    if (facts.divisible(total, rest.literal()) == Answer::no)
      c.fail("infer.reshape", cat("the ", product(c.shape(0)).text(), " elements of [", shape_text(c.shape(0)),
                                  "] do not divide by ", rest.text()));
    facts.assume_multiple(total, rest.literal(), 0,
                          {FactSource::op, "Reshape", place(c.graph(), c.graph()[c.node().outputs[0]].def)});
    return facts.simplify(floor_div(total, rest));
  }
  return floor_div(total, rest);
}

struct Reshape : Rules<op::Reshape> {
  static constexpr bool partial = true;
  static void infer(const op::Reshape& a, Infer& c) {
    const auto wanted = c.ints(1);
    if (!wanted) return infer_unknown(c);
    Shape out, others;
    int64_t open = -1;
    for (size_t i = 0; i < wanted->size(); ++i) {
      Dim d = (*wanted)[i];
      if (d.is(0) && !a.allowzero) d = copied(c, i);
      if (d.is_literal() && d.literal() < -1) c.fail("infer.reshape", cat("a size of ", d.literal()));
      if (d.is(-1) && open >= 0) c.fail("infer.reshape", "-1 is given twice");
      if (d.is(-1)) open = static_cast<int64_t>(i);
      else others.push_back(d);
      out.push_back(d);
    }
    if (!c.has_rank(0)) {
      if (open >= 0) out[static_cast<size_t>(open)] = c.fresh();
      return c.out(0, out);
    }
    if (open >= 0) out[static_cast<size_t>(open)] = missing_size(c, c.shape(0), others);
    else check_count(c, c.shape(0), others);
    c.out(0, out);
    keep_contents(c);
  }

  static Dim copied(Infer& c, size_t i) {
    if (!c.has_rank(0)) return c.fresh();
    if (i >= c.shape(0).size())
      c.fail("infer.reshape", cat("size ", i, " is to be copied from an input of rank ", c.rank(0)));
    return c.shape(0)[i];
  }

  static void check_count(Infer& c, Shape have, Shape want) {
    cancel(have, want);
    if (!have.empty() || !want.empty()) c.same(product(have), product(want), "element counts before and after");
  }

  static void infer_unknown(Infer& c) {
    const auto rank = c.length(1);
    if (!rank) return;
    if (*rank == 1 && c.has_rank(0)) return c.out(0, {product(c.shape(0))});
    c.out(0, c.fresh_shape(*rank));
  }

  static void eval(const op::Reshape& a, Eval& k) {
    const Tensor& x = k.in(0);
    auto shape = k.ints(1);
    int64_t open = -1, rest = 1;
    for (size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] == 0 && !a.allowzero) {
        if (i >= x.shape().size())
          k.fail("eval.reshape", cat("size ", i, " is to be copied from an input of rank ", x.rank()));
        shape[i] = x.shape()[i];
      }
      if (shape[i] == -1 && open < 0) open = static_cast<int64_t>(i);
      else if (shape[i] < 0 || __builtin_mul_overflow(rest, shape[i], &rest))
        k.fail("eval.reshape", cat("a size of ", shape[i]));
    }
    if (open >= 0) shape[static_cast<size_t>(open)] = rest == 0 ? 0 : x.count() / rest;
    if (element_count(shape) != x.count())
      k.fail("eval.reshape", cat(x.count(), " elements do not fill the new shape"));
    k.out(0, x.reshaped(shape));
  }

  static constexpr Revision revisions[] = {
      {5, [](Upgrade& u) { u.drop("consumed_inputs"), u.attr_to_input("shape", 1); },
       [](Downgrade& d) { d.input_to_ints(1, "shape"); }},
      {14, nullptr,
       [](Downgrade& d) {
         if (d.take_int("allowzero").value_or(0) == 0) return;
         const auto shape = d.graph.constant(d.input(1));
         const auto named = d.graph[d.input(1)].fact.ints();
         if (!shape && named && std::none_of(named->begin(), named->end(), [](Dim size) { return size.is(0); }))
           return;  // it differs only for empty tensors
         if (!shape) return d.refuse("allowzero with a shape that is computed by the model");
         const auto sizes = shape->to_ints();
         if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) d.refuse("a size of 0 meant a copied size there");
       }},
  };
};

struct Flatten : Rules<op::Flatten> {
  static void infer(const op::Flatten& a, Infer& c) {
    const int64_t rank = c.rank(0);
    const int64_t axis = a.axis == rank ? rank : c.axis(a.axis, rank);
    const Shape& in = c.shape(0);
    c.out(0, {product(Shape(in.begin(), in.begin() + axis)), product(Shape(in.begin() + axis, in.end()))});
    keep_contents(c);
  }
  static void eval(const op::Flatten& a, Eval& k) {
    const Tensor& x = k.in(0);
    const int64_t axis = a.axis == x.rank() ? x.rank() : k.axis(a.axis, x.rank());
    const std::span<const int64_t> shape(x.shape());
    k.out(0, x.reshaped({element_count(shape.first(static_cast<size_t>(axis))),
                         element_count(shape.subspan(static_cast<size_t>(axis)))}));
  }
  static constexpr Revision revisions[] = {{11, nullptr, [](Downgrade& d) { d.nonnegative_axes("axis"); }}};
};

constexpr OpRules table[] = {rules<Reshape>(), rules<Flatten>()};

}  // namespace

std::span<const OpRules> reshape_rules() { return table; }

}  // namespace cameo::ops
