// Reference kernels compute in five carrier types; elements of every other type are converted at load and store. So no
// kernel is instantiated per element type.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/number_format.h"
#include "ir/tensor.h"

namespace cameo::kernels {

enum class Carrier : uint8_t { f32, f64, i64, u64, boolean, none };  // none: strings and complex numbers only move
Carrier carrier_of(DType t);  // f16, bf16, f8 ... are carried as f32; bool as uint8_t 0 or 1

// The elements of a tensor as C (float, double, int64_t, uint64_t, uint8_t): a view when the storage already is C, a
// copy of int64_t, which may be sizes and places.
template <class C>
class Loaded {
 public:
  explicit Loaded(
      const Tensor& t);  // any real tensor, converted as static_cast would (floats to ints truncate, saturated)
  const C& operator[](int64_t i) const { return values_[static_cast<size_t>(i)]; }
  std::span<const C> span() const { return values_; }
  int64_t size() const { return static_cast<int64_t>(values_.size()); }
  const C* data() const { return values_.data(); }

 private:
  Tensor keep_;  // the bytes viewed
  std::vector<C> storage_;
  std::span<const C> values_;
};

// A tensor of `dtype` from carried elements: floats round to nearest even (f8 saturate as asked), integers wrap.
template <class C>
Tensor store(DType dtype, std::vector<int64_t> shape, std::span<const C> values,
             Overflow overflow = Overflow::to_inf_or_nan);
template <class C>
Tensor store(DType dtype, std::vector<int64_t> shape, const std::vector<C>& values,
             Overflow overflow = Overflow::to_inf_or_nan) {
  return store(dtype, std::move(shape), std::span<const C>(values), overflow);
}

// Calls f(C{}) with the carrier of `t`. Throws "eval.type" for strings and complex numbers.
[[noreturn]] void no_carrier(DType t);
template <class F>
decltype(auto) with_carrier(DType t, F&& f) {
  switch (carrier_of(t)) {
    case Carrier::f32: return f(float{});
    case Carrier::f64: return f(double{});
    case Carrier::i64: return f(int64_t{});
    case Carrier::u64: return f(uint64_t{});
    case Carrier::boolean: return f(uint8_t{});
    case Carrier::none: break;
  }
  no_carrier(t);
}
// The same for operators that take only floating-point numbers: f(float{}) or f(double{}).
template <class F>
decltype(auto) with_float_carrier(DType t, F&& f) {
  switch (carrier_of(t)) {
    case Carrier::f32: return f(float{});
    case Carrier::f64: return f(double{});
    default: break;
  }
  no_carrier(t);
}

Tensor convert(const Tensor& t, DType to,
               Overflow overflow = Overflow::to_inf_or_nan);  // ONNX's Cast between real types
Tensor full(DType dtype, std::vector<int64_t> shape, double value);
Tensor zeros(DType dtype, std::vector<int64_t> shape);  // empty strings for DType::string

}  // namespace cameo::kernels
