// Quantized weights put into a graph.
#pragma once

#include "ops/op_def.h"
#include "quant/weights/stored.h"
#include "quant/weights/targets.h"

namespace cameo::quant {

// com.microsoft's operators that compute with packed levels.
void put_nbits(Graph& g, const WeightTarget& t, const Matrix& m);
// DequantizeLinear with blocks before whatever reads the weight.
void put_dequantize(Graph& g, const WeightTarget& t, const Matrix& m);

// A node of com.microsoft, with attributes by name; operands at the end that are absent are left out.
NodeId microsoft_node(Graph& g, RegionId home, std::string_view name, const ir::NamedAttrs& attrs,
                      std::vector<ValueId> inputs, size_t outputs, NodeId before);
// The readers of `old` get `made`, which gets its name and its type.
void take_over(Graph& g, ValueId old, ValueId made);
// A constant, or the result of a node, that nobody reads goes.
void drop_unused(Graph& g, ValueId v);

}  // namespace cameo::quant
