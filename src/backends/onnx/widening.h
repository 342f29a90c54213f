// Types that hold every value of another, and the operators that do not mind.
#pragma once

#include <optional>

#include "ops/op_def.h"

namespace cameo::onnx {

// The smallest type among `allowed` in which the operator gives the same results as in `from`, up to rounding of
// floating-point numbers, once they are cast back.
std::optional<DType> wider_type(DType from, const OpDef& op, const TypeSet& allowed);

}  // namespace cameo::onnx
