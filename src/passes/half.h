// Half precision: every f32 value of a model in f16 or bf16, with casts around what stays.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"
#include "support/error.h"

namespace cameo::passes {

struct HalfOptions {
  DType to = DType::f16;          // or bf16
  bool keep_io = false;           // inputs and outputs stay f32
  std::vector<std::string> keep;  // operators that go on computing in f32; an unknown name throws use.value
};

struct HalfResult {
  size_t values = 0, weights = 0, casts = 0;
  std::vector<Diag> notes;  // weights with numbers beyond the type's range, which are clamped to it
};

// Operands that an operator takes only in f32 (the scales of Resize) stay f32, and so does what unknown operators read
// and give. Calls of local functions are inlined. Throws convert.float where a sequence would have to be cast.
HalfResult to_half(Model& m, const HalfOptions& options);

}  // namespace cameo::passes
