// Pools over everything behind the channels.
#include <cmath>
#include <limits>

#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/nn/window.h"
#include "ops/op_def.h"
#include "ops/preconditions.h"

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

constexpr OpRules table[] = {rules<GlobalAveragePool>(), rules<GlobalMaxPool>(), rules<GlobalLpPool>()};

}  // namespace

std::span<const OpRules> global_pool_rules() { return table; }

}  // namespace cameo::ops
