// What stands around an operator of a quantized model: DequantizeLinear before it, QuantizeLinear behind it.
#pragma once

#include "kernels/carrier.h"
#include "passes/engine_set.h"
#include "passes/rule.h"

namespace cameo::passes {

DType element_of(const Rewrite& rw, ValueId v);                           // undefined where it is no tensor
std::optional<std::vector<int64_t>> sizes(const Rewrite& rw, ValueId v);  // where all are numbers

// A value that is dequantized: the integers behind it, and how.
struct Dequantized {
  ValueId bytes, scale, zero;
  int64_t axis = 1;
};
// An input that varies: bytes with one constant scale.
std::optional<Dequantized> activation(const Rewrite& rw, ValueId v);
// Weights: constant bytes with one scale, or one along `axis`.
std::optional<Dequantized> quantized_weights(const Rewrite& rw, ValueId v, int64_t axis);
bool has_no_zero_point(const Rewrite& rw, const Dequantized& q);  // signed bytes, all zero points 0

// A QuantizeLinear to bytes with one constant scale.
struct Quantizer {
  ValueId of, out, scale, zero;  // what it quantizes, and to what
};
std::optional<Quantizer> quantizer_at(const Rewrite& rw, NodeId n);
// Whether the range of the bytes does what a Relu or Clip before them does.
bool implied(const Rewrite& rw, const Node& clip, const Quantizer& q);

// The zero point, made where there is none.
ValueId zero_of(Rewrite& rw, const Dequantized& q);
ValueId zero_of(Rewrite& rw, const Quantizer& q);

// A convolution's bias in units of the sums: its own integers, or rounded to them. An empty value where there is no
// bias; none where it cannot be.
std::optional<ValueId> integer_bias(Rewrite& rw, ValueId bias, const Dequantized& x, const Dequantized& w,
                                    int64_t channels);

}  // namespace cameo::passes
