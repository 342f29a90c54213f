#include <algorithm>
#include <cmath>

#include "ops/op_def.h"
#include "ops/preconditions.h"
#include "ops/quant/scale.h"

namespace cameo::ops {

namespace {

// A parameter per row (of a) or per column (of b) of the last two axes.
Tensor along(const Tensor& t, bool rows) {
  if (t.rank() != 1 || t.count() == 1) return t;
  return t.reshaped(rows ? std::vector<int64_t>{t.count(), 1} : std::vector<int64_t>{1, t.count()});
}

// The parameter at every element of a tensor of that shape.
Tensor spread(const Tensor& t, bool rows, const std::vector<int64_t>& shape) {
  const Tensor p = along(t, rows);
  if (broadcast_shape(p.shape(), shape) != shape)
    throw error("eval.shape", "a scale or zero point does not suit its operand");
  return expand_to(p, shape);
}

struct QLinearMatMul : Rules<op::QLinearMatMul> {
  static void infer(const op::QLinearMatMul&, Infer& c) {
    Shape a = c.shape(0), b = c.shape(3);
    if (a.empty() || b.empty()) c.fail("infer.rank", "the operands must have at least one axis");
    const bool row = a.size() == 1, column = b.size() == 1;
    if (row) a.insert(a.begin(), Dim(1));
    if (column) b.push_back(1);
    c.same(a.back(), b[b.size() - 2], "the sizes that are summed over");
    Shape out = c.broadcast_shapes(Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2));
    Shape whole = out;  // with the axes that vectors leave out
    whole.insert(whole.end(), {a[a.size() - 2], b.back()});
    want_parameter(c, 1, true, whole);
    want_parameter(c, 2, true, a);
    want_parameter(c, 4, false, whole);
    want_parameter(c, 5, false, b);
    for (const size_t i : {6, 7}) want_parameter(c, i, true, whole);
    if (!row) out.push_back(a[a.size() - 2]);
    if (!column) out.push_back(b.back());
    c.out(0, std::move(out));
  }

  // A vector goes along the rows or the columns, anything else broadcasts.
  static void want_parameter(Infer& c, size_t input, bool rows, const Shape& over) {
    Shape shape = c.shape(input);
    if (rows && shape.size() == 1) shape.push_back(1);
    want_broadcast(c, shape, over, cat("input ", input));
  }

  // Elements less their zero points.
  static std::vector<double> centred(const Tensor& t, const Tensor& zero, bool rows) {
    const Loaded<double> v(t), z(spread(zero, rows, t.shape()));
    std::vector<double> out(v.span().begin(), v.span().end());
    for (size_t i = 0; i < out.size(); ++i) out[i] -= z[static_cast<int64_t>(i)];
    return out;
  }

  static void eval(const op::QLinearMatMul&, Eval& k) {
    Tensor a = k.in(0), b = k.in(3);
    if (a.rank() == 0 || b.rank() == 0) k.fail("eval.shape", "the operands must have at least one axis");
    const bool row = a.rank() == 1, column = b.rank() == 1;
    if (row) a = a.reshaped({1, a.count()});
    if (column) b = b.reshaped({b.count(), 1});
    const auto lead = [](const Tensor& t) {
      return std::span<const int64_t>(t.shape()).first(static_cast<size_t>(t.rank() - 2));
    };
    const int64_t m = a.shape()[static_cast<size_t>(a.rank() - 2)], n = b.shape().back(), depth = a.shape().back();
    if (b.shape()[static_cast<size_t>(b.rank() - 2)] != depth)
      k.fail("eval.shape", cat("sums over ", depth, " and over ", b.shape()[static_cast<size_t>(b.rank() - 2)]));
    const auto batch = broadcast_shape(lead(a), lead(b));
    std::vector<int64_t> shape = batch;
    shape.insert(shape.end(), {m, n});
    const auto from_a = strided_indices(batch, broadcast_strides(lead(a), batch)),
               from_b = strided_indices(batch, broadcast_strides(lead(b), batch));
    const auto av = centred(a, k.in(2), true), bv = centred(b, k.in(5), false);
    const Loaded<float> a_scale(spread(k.in(1), true, shape)), b_scale(spread(k.in(4), false, shape)),
        y_scale(spread(k.in(6), true, shape));
    const Loaded<double> y_zero(spread(k.in(7), true, shape));
    const DType t = k.in(7).dtype();
    std::vector<double> y(static_cast<size_t>(element_count(shape)));
    for (size_t s = 0; s < from_a.size(); ++s)
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
          double sum = 0;
          for (int64_t d = 0; d < depth; ++d)
            sum += av[static_cast<size_t>((from_a[s] * m + i) * depth + d)] *
                   bv[static_cast<size_t>((from_b[s] * depth + d) * n + j)];
          const auto at = (static_cast<int64_t>(s) * m + i) * n + j;
          const double v = sum * static_cast<double>(a_scale[at] * b_scale[at] / y_scale[at]) + y_zero[at];
          y[static_cast<size_t>(at)] = is_int(t) ? std::clamp(std::nearbyint(v), lowest_of(t), highest_of(t)) : v;
        }
    std::vector<int64_t> given = batch;
    if (!row) given.push_back(m);
    if (!column) given.push_back(n);
    k.out(0, store(t, given, y, Overflow::saturate));
  }

  // Dequantize, multiply, quantize.
  static void expand(Expand& e) {
    On& on = e.on;
    if (!is_one_scale(e.graph, e.in(1)) || !is_one_scale(e.graph, e.in(4))) return e.refuse("scales per row or column");
    const ValueId a = on.DequantizeLinear(e.in(0), e.in(1), e.in(2)),
                  b = on.DequantizeLinear(e.in(3), e.in(4), e.in(5));
    e.replace({on.QuantizeLinear(on.MatMul(a, b), e.in(6), e.in(7))});
  }
  static constexpr Expansion expansions[] = {
      expansion<op::QLinearMatMul>(10, Exactness::rounding, [](const op::QLinearMatMul&, Expand& e) { expand(e); })};
};

constexpr OpRules table[] = {rules<QLinearMatMul>()};

}  // namespace

std::span<const OpRules> qlinear_matmul_rules() { return table; }

}  // namespace cameo::ops
