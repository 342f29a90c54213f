// One elementwise operator on runs of floats: of a chain (elementwise.cpp), or behind a product (epilogue.h).
#pragma once

#include <optional>

#include "engine/compiler.h"
#include "engine/simd/rows.h"

namespace cameo::engine {

struct Instruction {
  bool binary = false;
  Unary unary = Unary::copy;
  Binary op = Binary::add;
  float a = 0, b = 0;
  size_t operand = 0;  // of a binary one: which input
};

// What a node does to its first input, where that is all it does.
std::optional<Instruction> unary_of(Compiler& c, const Node& n);
// `swapped`: the run is the second operand.
std::optional<Binary> binary_of(const Node& n, bool swapped);

}  // namespace cameo::engine
