// linger's borders between floats and whole numbers, its sums and products, and its activations. The devices compute
// activations by tables of their own; here they are the functions themselves, rounded once.
#include <cmath>

#include "ops/families.h"
#include "ops/linger/number.h"

namespace cameo::ops {

namespace linger {

namespace {

struct Quant : Rules<op::linger::Quant> {
  using A = op::linger::Quant;
  static void infer(const A& a, Infer& c) {
    want_grid(c, "x", static_cast<double>(a.scale_x), a.data_bits);
    if (a.zero_point.value_or(0) != 0)
      c.fail("infer.attribute", cat("zero_point is ", *a.zero_point, " and must be 0"));
    if (a.quant_mode) want_word(c, "quant_mode", *a.quant_mode, {"floor_add", "floor", "ceil", "round"});
    c.out(0, type_of(a.data_bits), c.shape(0));
  }
  static void eval(const A& a, Eval& k) {
    const Grid grid{static_cast<double>(a.scale_x), a.data_bits};
    const Loaded<double> x(k.in(0));
    k.out(0, requantised(k.in(0).shape(), x.span(), 1, grid, rounding_of(a.quant_mode)));
  }
};

struct Dequant : Rules<op::linger::Dequant> {
  using A = op::linger::Dequant;
  static void infer(const A& a, Infer& c) {
    want_scale(c, "scale_o", static_cast<double>(a.scale_o));
    c.out(0, DType::f32, c.shape(0));
  }
  static void eval(const A& a, Eval& k) {
    const Loaded<double> x(k.in(0));
    std::vector<double> y(x.span().begin(), x.span().end());
    for (double& v : y) v /= static_cast<double>(a.scale_o);
    k.out(0, store(DType::f32, k.in(0).shape(), y));
  }
};

// Both operands over the shape of the result.
template <class A>
std::pair<Tensor, Tensor> spread(const A& a, Eval& k) {
  const Rounding how = rounding_of(a.quant_mode);
  const Tensor x = whole_tensor(k.in(0), x_of(a), how), y = whole_tensor(k.in(1), y_of(a), how);
  const auto shape = broadcast_shape(x.shape(), y.shape());
  return {expand_to(x, shape), expand_to(y, shape)};
}

// Each side is brought to the output's scale by a rounding of its own, where the scales differ.
struct QAdd : Rules<op::linger::QAdd> {
  using A = op::linger::QAdd;
  static constexpr size_t sides[] = {0, 1};
  static void infer(const A& a, Infer& c) { promise(c, a, c.broadcast(sides)); }
  static void eval(const A& a, Eval& k) {
    const auto [left, right] = spread(a, k);
    const Loaded<double> x(left), y(right);
    const double to_x = o_of(a).scale / x_of(a).scale, to_y = o_of(a).scale / y_of(a).scale;
    const Rounding how = rounding_of(a.quant_mode);
    std::vector<double> sum(static_cast<size_t>(left.count()));
    for (int64_t i = 0; i < left.count(); ++i)
      sum[static_cast<size_t>(i)] = rounded(x[i] * to_x, how) + rounded(y[i] * to_y, how);
    k.out(0, result(a, left.shape(), sum, o_of(a).scale));
  }
};

struct QMul : Rules<op::linger::QMul> {
  using A = op::linger::QMul;
  static void infer(const A& a, Infer& c) { promise(c, a, c.broadcast(QAdd::sides)); }
  static void eval(const A& a, Eval& k) {
    const auto [left, right] = spread(a, k);
    const Loaded<double> x(left), y(right);
    std::vector<double> product(static_cast<size_t>(left.count()));
    for (int64_t i = 0; i < left.count(); ++i) product[static_cast<size_t>(i)] = x[i] * y[i];
    k.out(0, result(a, left.shape(), product, x_of(a).scale * y_of(a).scale));
  }
};

template <class A, double (*F)(double)>
struct Activation : Rules<A> {
  static void infer(const A& a, Infer& c) { promise(c, a, c.shape(0)); }
  static void eval(const A& a, Eval& k) {
    std::vector<double> y = whole(k.in(0), x_of(a), rounding_of(a.quant_mode));
    for (double& v : y) v = F(v / x_of(a).scale);
    k.out(0, result(a, k.in(0).shape(), y, 1));
  }
};

double sigmoid(double v) { return 1 / (1 + std::exp(-v)); }
double tangent(double v) { return std::tanh(v); }
double gelu(double v) { return v * 0.5 * std::erfc(-v * std::sqrt(0.5)); }
double swish(double v) { return v * sigmoid(v); }

// The first half along an axis, times the sigmoid of the second.
struct QGLU : Rules<op::linger::QGLU> {
  using A = op::linger::QGLU;
  static void infer(const A& a, Infer& c) {
    Shape shape = c.shape(0);
    Dim& size = shape[static_cast<size_t>(c.axis(a.dim, c.rank(0)))];
    if (const auto known = size.known(); known && *known % 2)
      c.fail("infer.mismatch", cat("an axis of ", *known, " cannot be halved"));
    size = floor_div(size, 2);
    promise(c, a, std::move(shape));
  }
  static void eval(const A& a, Eval& k) {
    std::vector<int64_t> shape = k.in(0).shape();
    const auto axis = static_cast<size_t>(k.axis(a.dim, k.in(0).rank()));
    if (shape[axis] % 2) k.fail("eval.shape", cat("an axis of ", shape[axis], " cannot be halved"));
    shape[axis] /= 2;
    int64_t run = 1;  // elements that lie together in one half
    for (size_t i = axis; i < shape.size(); ++i) run *= shape[i];
    const std::vector<double> x = whole(k.in(0), x_of(a), rounding_of(a.quant_mode));
    std::vector<double> y(x.size() / 2);
    for (int64_t i = 0; run && i < static_cast<int64_t>(y.size()); ++i) {
      const int64_t first = i / run * 2 * run + i % run;
      y[static_cast<size_t>(i)] =
          x[static_cast<size_t>(first)] * in_q15(sigmoid(x[static_cast<size_t>(first + run)] / x_of(a).scale));
    }
    k.out(0, result(a, std::move(shape), y, x_of(a).scale));
  }
};

constexpr OpRules table[] = {
    rules<Quant>(),
    rules<Dequant>(),
    rules<QAdd>(),
    rules<QMul>(),
    rules<QGLU>(),
    rules<Activation<op::linger::QSigmoid, sigmoid>>(),
    rules<Activation<op::linger::QTanh, tangent>>(),
    rules<Activation<op::linger::QGelu, gelu>>(),
    rules<Activation<op::linger::QSwish, swish>>(),
};

}  // namespace

}  // namespace linger

std::span<const OpRules> linger_elementwise_rules() { return linger::table; }

}  // namespace cameo::ops
