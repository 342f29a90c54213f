// linger's convolutions, linear layers and batch norms: whole numbers are multiplied and added, the bias is in steps of
// 1 / (scale_x * scale_w), and the sum is rounded once to the output's scale.
#include <algorithm>

#include "ops/families.h"
#include "ops/linger/number.h"
#include "ops/linger/window.h"

namespace cameo::ops {

namespace linger {

namespace {

template <class A>
Grid bias_of(const A& a) {
  return {static_cast<double>(a.scale_x) * static_cast<double>(a.scale_w), 32};
}

// Input, weight and bias as whole numbers in f64.
template <class A>
std::vector<Tensor> operands(const A& a, Eval& k) {
  std::vector<Tensor> out{whole_tensor(k.in(0), x_of(a), rounding_of(a.quant_mode)), whole_weight(k.in(1), w_of(a))};
  if (k.has(2)) out.push_back(whole_weight(k.in(2), bias_of(a)));
  return out;
}

template <class A>
void give(const A& a, Eval& k, const Tensor& sums) {
  const Loaded<double> v(sums);
  k.out(0, result(a, sums.shape(), v.span(), bias_of(a).scale));
}

template <class A, class Onnx, int64_t Rank>
struct QConv : Rules<A> {
  static void infer(const A& a, Infer& c) {
    want_rank(c, 0, Rank, "the input");
    promise(c, a, shape_by(window_of<Onnx>(a), c));
  }
  static void eval(const A& a, Eval& k) { give(a, k, computed(window_of<Onnx>(a), operands(a, k))); }
};

struct QLinear : Rules<op::linger::QLinear> {
  using A = op::linger::QLinear;
  static void infer(const A& a, Infer& c) {
    if (c.rank(0) < 1) c.fail("infer.rank", "the input must have at least one axis");
    want_rank(c, 1, 2, "the weight");
    c.same(c.shape(0).back(), c.dim(1, 1), "the input's features and the weight's");
    if (c.has(2)) want_shape(c, 2, {c.dim(1, 0)}, "the bias");
    Shape out = c.shape(0);
    out.back() = c.dim(1, 0);
    promise(c, a, std::move(out));
  }
  static void eval(const A& a, Eval& k) {
    if (k.in(0).rank() < 1 || k.in(1).rank() != 2)
      k.fail("eval.shape", "an input of rank 0, or a weight not of rank 2");
    const auto in = operands(a, k);
    const std::vector<int64_t> turned{1, 0};
    const Tensor product[] = {in[0], computed(op::Transpose{.perm = turned}, std::span(&in[1], 1))};
    const Tensor sums = computed(op::MatMul{}, product);
    if (in.size() < 3) return give(a, k, sums);
    const Tensor sides[] = {sums, in[2]};
    give(a, k, computed(op::Add{}, sides));
  }
};

template <class A>
struct QBatchNorm : Rules<A> {
  static void infer(const A& a, Infer& c) {
    if (c.rank(0) < 2) c.fail("infer.rank", "the input must have channels");
    want_per_channel(c, {1, 2}, c.dim(0, 1));
    promise(c, a, c.shape(0));
  }
  static void eval(const A& a, Eval& k) {
    const auto in = operands(a, k);
    const auto& shape = in[0].shape();
    if (shape.size() < 2 || in.size() < 3 || in[1].count() != shape[1] || in[2].count() != shape[1])
      k.fail("eval.shape", "alpha and beta must have one number per channel");
    const Loaded<double> x(in[0]), alpha(in[1]), beta(in[2]);
    const int64_t planes = shape[0] * shape[1], plane = planes == 0 ? 1 : std::max<int64_t>(1, in[0].count() / planes);
    std::vector<double> y(static_cast<size_t>(in[0].count()));
    for (int64_t i = 0; i < in[0].count(); ++i) {
      const int64_t channel = i / plane % shape[1];
      y[static_cast<size_t>(i)] = x[i] * alpha[channel] + beta[channel];
    }
    give(a, k, store(DType::f64, shape, y));
  }
};

constexpr OpRules table[] = {
    rules<QConv<op::linger::QConv1d, op::Conv, 3>>(),
    rules<QConv<op::linger::QConv2d, op::Conv, 4>>(),
    rules<QConv<op::linger::QConvTranspose1d, op::ConvTranspose, 3>>(),
    rules<QConv<op::linger::QConvTranspose2d, op::ConvTranspose, 4>>(),
    rules<QLinear>(),
    rules<QBatchNorm<op::linger::QBatchNorm1d>>(),
    rules<QBatchNorm<op::linger::QBatchNorm2d>>(),
};

}  // namespace

}  // namespace linger

std::span<const OpRules> linger_linear_rules() { return linger::table; }

}  // namespace cameo::ops
