#include <cmath>
#include <limits>

#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/nn/window_rule.h"
#include "ops/on.h"
#include "ops/op_def.h"

namespace cameo::ops {

namespace {

void infer_global(Infer& c) {
  Shape out = c.shape(0);
  if (out.size() < 2) c.fail("infer.rank", cat("the input has rank ", out.size(), ": batch and channels are wanted"));
  for (size_t i = 2; i < out.size(); ++i) out[i] = 1;
  c.out(0, std::move(out));
}

// Reduces every plane: f(plane) where plane is a span of C.
template <class F>
void eval_global(Eval& k, F&& f) {
  const Tensor& x = k.in(0);
  if (x.rank() < 2) k.fail("eval.shape", cat("the input has rank ", x.rank()));
  std::vector<int64_t> shape = x.shape();
  for (size_t i = 2; i < shape.size(); ++i) shape[i] = 1;
  const auto planes = static_cast<size_t>(element_count(shape)),
             plane = static_cast<size_t>(product(spatial_of(x.shape())));
  with_float_carrier(x.dtype(), [&](auto zero) {
    using C = decltype(zero);
    const Loaded<C> v(x);
    std::vector<C> y(planes);
    for (size_t i = 0; i < planes; ++i) y[i] = f(v.span().subspan(i * plane, plane));
    k.out(0, store(x.dtype(), shape, y));
  });
}

struct GlobalAveragePool : Rules<op::GlobalAveragePool> {
  static void infer(const op::GlobalAveragePool&, Infer& c) { infer_global(c); }
  static void eval(const op::GlobalAveragePool&, Eval& k) {
    eval_global(k, [](auto plane) {
      double sum = 0;  // thousands of elements: a float would lose digits
      for (const auto v : plane) sum += static_cast<double>(v);
      return static_cast<typename decltype(plane)::value_type>(sum / static_cast<double>(plane.size()));
    });
  }
};

struct GlobalMaxPool : Rules<op::GlobalMaxPool> {
  static void infer(const op::GlobalMaxPool&, Infer& c) { infer_global(c); }
  static void eval(const op::GlobalMaxPool&, Eval& k) {
    eval_global(k, [](auto plane) {
      using C = typename decltype(plane)::value_type;
      C best = -std::numeric_limits<C>::infinity();
      for (const C v : plane)
        if (v > best || v != v) best = v;
      return best;
    });
  }
};

struct GlobalLpPool : Rules<op::GlobalLpPool> {
  static void infer(const op::GlobalLpPool&, Infer& c) { infer_global(c); }
  static void eval(const op::GlobalLpPool& a, Eval& k) {
    const auto p = static_cast<double>(a.p);
    eval_global(k, [p](auto plane) {
      double sum = 0;
      for (const auto v : plane) sum += std::pow(std::abs(static_cast<double>(v)), p);
      return static_cast<typename decltype(plane)::value_type>(std::pow(sum, 1 / p));
    });
  }

  static constexpr Revision revisions[] = {
      exponent_was_float,
  };
};

struct MaxUnpool : Rules<op::MaxUnpool> {
  static Shape undone(const op::MaxUnpool& a, const Shape& x, std::string& problem) {
    Shape out = x;
    const size_t n = x.size() < 2 ? 0 : x.size() - 2;
    const WindowAttrs w = window_attrs("NOTSET", a.strides, std::nullopt, a.pads, false, n);
    problem = w.problem;
    if (x.size() < 3) problem = cat("the input has rank ", x.size());
    else if (a.kernel_shape.size() != n)
      problem = cat("'kernel_shape' has ", a.kernel_shape.size(), " entries where ", n, " are wanted");
    if (!problem.empty()) return out;
    for (size_t i = 0; i < n; ++i)
      out[i + 2] = (x[i + 2] - 1) * w.strides[i] + a.kernel_shape[i] - w.pads[i] - w.pads[i + n];
    return out;
  }

  static void infer(const op::MaxUnpool& a, Infer& c) {
    std::string problem;
    Shape out = undone(a, c.shape(0), problem);
    if (!problem.empty()) c.fail("infer.attribute", problem);
    want_shape(c, 1, c.shape(0), "the tensor of indices");
    for (const Dim d : out)
      if (d.is_literal() && d.literal() < 0)
        c.fail("infer.mismatch", cat("[", shape_text(out), "] cannot have been pooled"));
    if (c.has(2)) {
      want_shape(c, 2, {c.rank(0)}, "'output_shape'");
      const auto wanted = c.ints(2);
      if (wanted && wanted->size() != out.size())
        c.fail("infer.mismatch", cat("'output_shape' has ", wanted->size(), " entries for rank ", out.size()));
      out = wanted ? *wanted : c.fresh_shape(c.rank(0));
    }
    c.out(0, std::move(out));
  }

  // Indices count in the tensor that was pooled; a larger `output_shape` pads that at the end.
  static void eval(const op::MaxUnpool& a, Eval& k) {
    const Tensor& x = k.in(0);
    std::string problem;
    const auto pooled = known_shape(undone(a, Shape(x.shape().begin(), x.shape().end()), problem));
    if (!problem.empty() || !pooled) k.fail("eval.shape", problem);
    const std::vector<int64_t> shape = k.has(2) ? k.ints(2) : *pooled;
    const int64_t places = element_count(*pooled);
    element_count(shape);  // throws on negative sizes and overflow
    const auto index = k.ints(1);
    if (shape.size() != pooled->size() || static_cast<int64_t>(index.size()) != x.count())
      k.fail("eval.shape", "indices or output_shape do not suit the input");
    const auto stride = row_major_strides(shape);
    std::vector<int64_t> to(index.size());
    for (size_t i = 0; i < index.size(); ++i) {
      if (index[i] < 0 || index[i] >= places)
        k.fail("eval.index", cat("index ", index[i], " is outside a tensor of ", places, " elements"));
      for (size_t d = shape.size(), rest = static_cast<size_t>(index[i]); d-- > 0;
           rest /= static_cast<size_t>((*pooled)[d])) {
        const auto at = static_cast<int64_t>(rest) % (*pooled)[d];
        if (at >= shape[d]) k.fail("eval.index", cat("index ", index[i], " is outside the wanted shape"));
        to[i] += at * stride[d];
      }
    }
    k.out(0, put(zeros(x.dtype(), shape), to, x));
  }
};

constexpr OpRules table[] = {rules<GlobalAveragePool>(), rules<GlobalMaxPool>(), rules<GlobalLpPool>(),
                             rules<MaxUnpool>()};

}  // namespace

std::span<const OpRules> global_pool_rules() { return table; }

}  // namespace cameo::ops
