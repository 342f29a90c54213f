// The last step of linger's own export. Its modules write nodes with floating-point weights, as PyTorch holds them; the
// runtime wants whole numbers, Quant where a float goes into a quantised operand, and Dequant where a quantised number
// goes to an operator that computes with floats, or out of the model.
#pragma once

#include "ir/graph.h"

namespace cameo::passes {

struct LingerSettled {
  size_t nodes = 0, weights = 0, quants = 0, dequants = 0;
};

// Nodes of linger's domain that are known by name become linger's operators. Types are inferred anew.
LingerSettled settle_linger(Model& m);

}  // namespace cameo::passes
