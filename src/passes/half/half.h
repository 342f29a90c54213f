// Half precision: f32 values of a model in f16 or bf16, with casts between them and what stays f32.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "passes/half/units.h"
#include "support/error.h"

namespace cameo::passes {

struct HalfResult {
  size_t values = 0, weights = 0, casts = 0;
  std::vector<Diag> notes;  // weights with numbers beyond the type's range, which are clamped to it
};

// Weights in their half form, by value: made once however often a model is converted.
using HalfWeights = std::map<ValueId, std::shared_ptr<const Weight>>;

double largest_half(DType half);  // 65504 for f16

// Every unit has a form. Casts that change nothing any more go. Throws convert.float where a sequence would have to be
// cast, or an operator mixes the types.
HalfResult apply_forms(Graph& g, const std::vector<Unit>& units, DType half, HalfWeights& made);

}  // namespace cameo::passes
