// What has to stay f32 whatever the inputs are.
#pragma once

#include <span>

#include "passes/half/units.h"
#include "quant/layer.h"

namespace cameo::quant {

using passes::Form;
using passes::Unit;

inline constexpr double mask_like = 1e30;  // such numbers mean "infinite": clamping them changes nothing

void keep_f32(Unit& u, std::string why);  // unless it is f32 already

// By name of operator or node, * and ? allowed. Throws use.value for what is neither.
void keep_asked(const Graph& g, std::span<Unit> units, const std::vector<std::string>& patterns);
// Constants that the type cannot hold: beyond its range (masks excepted, which are clamped), or so small that they
// would become 0 or lose their digits.
void keep_constants(const Graph& g, std::span<Unit> units, DType half);
// What ONNX Runtime refuses in half precision when it runs it.
void keep_refused(const Graph& g, std::span<Unit> units);
// Arithmetic on sizes and positions: from integers to integers, or to angles.
void keep_index_arithmetic(const Graph& g, std::span<Unit> units);

}  // namespace cameo::quant
