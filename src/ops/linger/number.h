// The arithmetic of linger's operators. A scale is a multiplier (y_scale of QuantizeLinear is 1 / scale), usually a
// power of two; there are no zero points. Kernels compute with whole numbers in f64, which holds every sum that the
// devices' 32-bit accumulators can hold.
#pragma once

#include <span>

#include "ops/eval.h"
#include "ops/generated/linger.h"
#include "ops/infer.h"
#include "ops/preconditions.h"

namespace cameo::ops::linger {

enum class Rounding : uint8_t { floor_add, floor, ceil, even };  // quant_mode: floor_add, floor, ceil, round

// How a number is quantised: round(v * scale), in so many bits.
struct Grid {
  double scale = 1;
  int64_t bits = 8;
};

DType type_of(int64_t bits);  // int8, int16 or int32
Rounding rounding_of(const std::optional<std::string>& quant_mode);
double rounded(double v, Rounding how);
double saturated(double v, int64_t bits);  // NaN becomes the lowest number
// floor(v * 2^15 + 0.5) / 2^15: what the devices' sigmoid, tanh and softmax give inside of other operators.
double in_q15(double v);

// Scales are finite and above zero, bits between 1 and 32.
void want_grid(const Infer& c, std::string_view name, double scale, int64_t bits);
void want_scale(const Infer& c, std::string_view name, double scale);
void want_bits(const Infer& c, std::string_view name, int64_t bits);

template <class A>
Grid x_of(const A& a) {
  return {static_cast<double>(a.scale_x), a.x_bits};
}
template <class A>
Grid y_of(const A& a) {
  return {static_cast<double>(a.scale_y), a.y_bits};
}
template <class A>
Grid w_of(const A& a) {
  return {static_cast<double>(a.scale_w), a.w_bits};
}
template <class A>
Grid o_of(const A& a) {
  return {static_cast<double>(a.scale_o), a.o_bits};
}

// Everything that a node says about numbers.
template <class A>
void want_numbers(const Infer& c, const A& a) {
  if constexpr (requires { a.x_bits; }) want_grid(c, "x", static_cast<double>(a.scale_x), a.x_bits);
  if constexpr (requires { a.y_bits; }) want_grid(c, "y", static_cast<double>(a.scale_y), a.y_bits);
  if constexpr (requires { a.scale_w; }) want_scale(c, "scale_w", static_cast<double>(a.scale_w));
  if constexpr (requires { a.w_bits; }) want_bits(c, "w_bits", a.w_bits);
  if constexpr (requires { a.o_bits; }) want_grid(c, "o", static_cast<double>(a.scale_o), a.o_bits);
  if constexpr (requires { a.quant_mode; })
    if (a.quant_mode) want_word(c, "quant_mode", *a.quant_mode, {"floor_add", "floor", "ceil", "round"});
}

// The output that the attributes promise.
template <class A>
void promise(Infer& c, const A& a, Shape shape) {
  want_numbers(c, a);
  c.out(0, type_of(a.o_bits), std::move(shape));
}

// The shape that an ONNX operator's rule gives for the same operands.
template <class A>
Shape shape_by(const A& attrs, Infer& c) {
  if (c.out_count() == 0) c.fail("infer.mismatch", "there is no output");
  op_of<A>().rules.infer(&attrs, c);
  return c.graph()[c.node().outputs[0]].fact.shape();
}

// What an ONNX operator's reference kernel gives.
template <class A>
Tensor computed(const A& attrs, std::span<const Tensor> operands) {
  std::vector<Datum> data(operands.begin(), operands.end());
  std::vector<const Datum*> pointers;
  for (const Datum& d : data) pointers.push_back(&d);
  Eval k(pointers, 1);
  op_of<A>().rules.eval(&attrs, k);
  return std::move(k.results()[0].tensor);
}

// The whole numbers of an operand: quantised ones as they are, floats by the grid.
std::vector<double> whole(const Tensor& t, const Grid& grid, Rounding how);
Tensor whole_tensor(const Tensor& t, const Grid& grid, Rounding how);  // of f64
// Weights and biases round half to even.
inline Tensor whole_weight(const Tensor& t, const Grid& grid) { return whole_tensor(t, grid, Rounding::even); }

// Numbers in steps of 1 / `scale`, on the grid of a result.
Tensor requantised(std::vector<int64_t> shape, std::span<const double> v, double scale, const Grid& to, Rounding how);

template <class A>
Tensor result(const A& a, std::vector<int64_t> shape, std::span<const double> v, double scale) {
  return requantised(std::move(shape), v, scale, o_of(a), rounding_of(a.quant_mode));
}

}  // namespace cameo::ops::linger
