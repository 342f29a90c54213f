// What a node costs: multiplications, operations, bytes. The only place that knows: statistics, folding's budgets and
// the engine's choice between one thread and several ask here.
#pragma once

#include <optional>

#include "ir/graph.h"

namespace cameo::ops {

// Whether its multiply-accumulates are counted: convolutions, matrix products, attention, recurrent layers.
bool multiplies(const Node& n);

// Multiply-accumulates of one run; none where it does not multiply, or its shapes are not known. Throws where 64 bits
// do not hold them.
std::optional<Dim> macs(const Graph& g, NodeId n);

// Multiplications and additions (or comparisons, in pooling) of one run, for nodes that are long enough to be counted.
// None for the others, and where a size is not a number.
std::optional<double> operations(const Graph& g, NodeId n);

// Bytes of all its outputs that are read; none where a size is not a number, or an element has no fixed size.
std::optional<uint64_t> result_bytes(const Graph& g, NodeId n);

// What a constant takes in a file; nothing for one that the reader made up.
uint64_t constant_bytes(const Graph& g, ValueId v);

}  // namespace cameo::ops
