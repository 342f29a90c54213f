// A constant as an operand of a node that is given as text: {4, 80}, {0.5}, f16{1, 2}, i64{3}[].
#pragma once

#include <optional>
#include <string_view>

#include "ir/tensor.h"

namespace cameo::passes {

// A vector, i64 where all items are whole numbers, else f32, unless a type stands before it; [] after it makes a 0-d
// tensor of its one item. Nothing where the text is a name. Throws edit.insert.
std::optional<Tensor> parse_constant(std::string_view text);

}  // namespace cameo::passes
