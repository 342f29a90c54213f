// Constants that a model keeps in fewer bits: what a Cast of a constant of 16 bits gives in f32, or DequantizeLinear of
// constants. They are computed when they are packed, and not kept.
#pragma once

#include <optional>

#include "ir/graph.h"
#include "ir/tensor.h"

namespace cameo::engine {

NodeId deferred_constant(const Graph& g, ValueId v);  // the node that gives it; none where v is no such value
Tensor deferred_value(const Graph& g, NodeId n);      // precondition: deferred_constant() gave it
// Known when the model is: a constant, also a deferred one.
inline bool is_known(const Graph& g, ValueId v) { return v && (g.is_constant(v) || deferred_constant(g, v)); }
std::optional<Tensor> known(const Graph& g, ValueId v);

}  // namespace cameo::engine
