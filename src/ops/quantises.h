// Operators whose results are never computed beforehand, not even of constants: Q/DQ pairs say which kernels an engine
// takes, and scales are trained.
#pragma once

#include "ir/graph.h"

namespace cameo::ops {

inline bool quantises(const Node& n) {
  return n.is("QuantizeLinear") || n.is("DequantizeLinear") || n.is("DynamicQuantizeLinear");
}

}  // namespace cameo::ops
