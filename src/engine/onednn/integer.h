// What convolutions and products of bytes share.
#pragma once

#include <algorithm>

#include "engine/onednn/conv.h"
#include "engine/simd/integer.h"
#include "engine/simd/window_sums.h"

namespace cameo::engine {

// Weights as signed bytes, and what has to be added to each to have it less its zero point: one number per output
// channel.
struct SignedWeights {
  Tensor bytes;
  std::vector<int32_t> rest;
  bool has_rest() const {
    return std::any_of(rest.begin(), rest.end(), [](int32_t r) { return r != 0; });
  }
};

// None where they are not constant.
std::optional<SignedWeights> signed_weights(Compiler& c, ValueId v, ValueId zero, int64_t channels);

SlotId constant_row(Compiler& c, const std::vector<int32_t>& v);
// `zero` may be known only at run time (DNNL_RUNTIME_S32_VAL).
dnnl::primitive_attr integer_attr(int32_t zero);

// What a convolution of bytes is made of.
struct ByteConv {
  NodeId node;
  ConvShape shape;
  ValueId x, x_zero, w;
  SignedWeights weights;
  std::optional<int32_t> zero;  // x's zero point, where it is a constant
  std::optional<WindowSize> windows;
  DType in;

  int32_t zero_attr() const { return zero ? *zero : DNNL_RUNTIME_S32_VAL; }
};
// x's zero point in 32 bits, computed where it is not a constant.
SlotId wide_zero(Compiler& c, const ByteConv& b);
SlotId byte_weights(Compiler& c, const ByteConv& b, const Md& wanted);
std::optional<WindowSize> window_size(const ConvShape& s);

// What becomes of the sums of some whole pixels, the first of which is element `at` of the output.
using FinishSums = std::function<void(const int32_t* sums, std::byte* out, int64_t at, int64_t count)>;
// A large image, some rows at a time; the output with channels last. no_slot where that is no gain or oneDNN cannot.
SlotId emit_bytes_in_strips(Compiler& c, const ByteConv& b, const std::string& label, DType out, FinishSums finish);

}  // namespace cameo::engine
