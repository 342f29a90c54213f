// The equation of an Einsum: which letters stand for the axes of each operand and of the result.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/layers.h"

namespace cameo::ops {

struct EinsumEquation {
  // An ellipsis is replaced by as many axes named '0', '1' ... as it stands for, aligned at their ends.
  std::vector<std::string> operands;
  std::string result;

  // Throws "model.einsum" when the equation is not an equation or does not fit the ranks.
  EinsumEquation(std::string_view equation, const std::vector<int64_t>& ranks);
};

}  // namespace cameo::ops
