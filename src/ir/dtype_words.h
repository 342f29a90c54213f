// Other people's words for element types.
#pragma once

#include <string_view>

#include "support/layers.h"

namespace cameo::ir {

// "f32" for "float32", "torch.float", "fp32", ...: PyTorch's, NumPy's and C's words; empty for any other text.
std::string_view dtype_in_our_words(std::string_view name);

}  // namespace cameo::ir
