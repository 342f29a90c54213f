// torch.nn.functional, Non-linear activation functions.
#include <limits>

#include "lowering/arithmetic.h"
#include "lowering/call_row.h"
#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

V softmax(Lower& on, V x, int64_t dim, Opt<DType> t) {
  return on.Softmax(t ? on.to(x, *t) : x, {.axis = on.axis(x, dim)});
}

constexpr Row table[] = {
    {"aten::relu", [](Lower& on, V x) { return V(on.Relu(x)); }},
    {"aten::relu6", [](Lower& on, V x) { return clip(on, x, Num(0.0), Num(6.0)); }},
    {"aten::hardtanh", [](Lower& on, V x, Num lo, Num hi) { return clip(on, x, lo, hi); }},
    {"aten::sigmoid", [](Lower& on, V x) { return V(on.Sigmoid(x)); }, promote_float(0)},
    {"aten::silu", [](Lower& on, V x) { return V(on.Swish(x)); }},
    {"aten::hardswish", [](Lower& on, V x) { return V(on.HardSwish(x)); }},
    {"aten::hardsigmoid", [](Lower& on, V x) { return V(on.HardSigmoid(x, {.alpha = 1.0f / 6.0f, .beta = 0.5f})); }},
    {"aten::mish", [](Lower& on, V x) { return V(on.Mish(x)); }},
    {"aten::elu",
     [](Lower& on, V x, double alpha, double scale, double input_scale) {
       if (input_scale != 1) unsupported("elu with an input scale");
       const V y = on.Elu(x, {.alpha = static_cast<float>(alpha)});
       return scale == 1 ? y : V(on.Mul(y, on.number(scale, on.dtype(x))));
     }},
    {"aten::leaky_relu",
     [](Lower& on, V x, double slope) { return V(on.LeakyRelu(x, {.alpha = static_cast<float>(slope)})); }},
    {"aten::gelu", [](Lower& on, V x, Str approximate) { return V(on.Gelu(x, {.approximate = approximate})); }},
    {"aten::softplus",
     [](Lower& on, V x, Num beta, Num threshold) {
       const V scaled_x = beta.is(1) ? x : V(on.Mul(x, on.scalar_like(beta, x)));
       const V y = on.Softplus(scaled_x);
       const V unscaled = beta.is(1) ? y : V(on.Div(y, on.scalar_like(beta, x)));
       return V(on.Where(on.Greater(scaled_x, on.scalar_like(threshold, x)), x, unscaled));
     }},
    {"aten::prelu",
     [](Lower& on, V x, V w) {
       if (on.rank(w) == 1 && on.rank(x) > 2 && !on.dim(w, 0).is(1)) {
         Ints tail;
         for (int64_t i = 1; i + 1 < on.rank(x); ++i) tail.push_back(i);
         w = on.unsqueeze(w, tail);
       }
       return V(on.PRelu(x, w));
     }},
    {"aten::_prelu_kernel", [](Lower& on, V x, V w) { return V(on.PRelu(x, w)); }},
    {"aten::celu", [](Lower& on, V x, double alpha) { return V(on.Celu(x, {.alpha = static_cast<float>(alpha)})); }},
    {"aten::selu", [](Lower& on, V x) { return V(on.Selu(x)); }},
    {"aten::glu",
     [](Lower& on, V x, int64_t dim) {
       const int64_t axis = on.axis(x, dim);
       const Dim half = floor_div(on.dim(x, axis), Dim(2));
       return V(on.Mul(on.slice(x, axis, Dim(0), half), on.Sigmoid(on.slice(x, axis, half, on.dim(x, axis)))));
     }},
    {"aten::log_sigmoid", [](Lower& on, V x) { return V(on.Neg(on.Softplus(on.Neg(x)))); }},
    {"aten::hardshrink",
     [](Lower& on, V x, Num l) {
       return V(on.Where(on.LessOrEqual(on.Abs(x), on.scalar_like(l, x)), on.number_like(0, x), x));
     }},
    {"aten::softshrink",
     [](Lower& on, V x, double l) {
       return V(on.Shrink(x, {.bias = static_cast<float>(l), .lambd = static_cast<float>(l)}));
     }},
    {"aten::threshold",
     [](Lower& on, V x, Num t, Num v) {
       return V(on.Where(on.LessOrEqual(x, on.scalar_like(t, x)), on.scalar_like(v, x), x));
     }},
    {"aten::rrelu",
     [](Lower& on, V x, double lower, double upper, bool training) {
       if (training) unsupported("rrelu in training mode", "export the model in eval mode");
       return V(on.LeakyRelu(x, {.alpha = static_cast<float>((lower + upper) / 2)}));
     }},
    {"aten::softmax.int", fn<softmax>},
    {"aten::_softmax", [](Lower& on, V x, int64_t dim) { return V(on.Softmax(x, {.axis = on.axis(x, dim)})); }},
    {"aten::_safe_softmax",
     [](Lower& on, V x, int64_t dim, Opt<DType> t) {
       const V y = softmax(on, x, dim, t),
               hopeless = on.Equal(x, on.number_like(-std::numeric_limits<double>::infinity(), x));
       const V all = reduce(on, Reduce::min, on.to(hopeless, DType::i32), {on.axis(x, dim)}, true);
       return V(on.Where(on.to(all, DType::boolean), on.number_like(0, y), y));
     }},
    {"aten::_softmax_backward_data",
     [](Lower& on, V g, V y, int64_t dim, DType t) {
       const V gy = on.Mul(g, y);
       return on.to(on.Sub(gy, on.Mul(y, reduce(on, Reduce::sum, gy, {on.axis(y, dim)}, true))), t);
     }},
    {"aten::log_softmax.int",
     [](Lower& on, V x, int64_t dim, Opt<DType> t) {
       return V(on.LogSoftmax(t ? on.to(x, *t) : x, {.axis = on.axis(x, dim)}));
     }},
    {"aten::_log_softmax",
     [](Lower& on, V x, int64_t dim) {
       return result(call_row(on, "aten::log_softmax.int", {Arg(x), Arg(Dim(dim))}));
     }},
};

}  // namespace

std::span<const Row> nn_functional_activation_rows() { return table; }

}  // namespace cameo::lowering
