// Constants that a model keeps in fewer bits (passes::deferred_constant): they are computed when they are packed, and
// not kept.
#pragma once

#include <optional>

#include "ir/graph.h"
#include "ir/tensor.h"
#include "passes/engine_set.h"

namespace cameo::engine {

Tensor deferred_value(const Graph& g, NodeId n);  // precondition: deferred_constant() gave it
// Known when the model is: a constant, also a deferred one.
inline bool is_known(const Graph& g, ValueId v) { return v && (g.is_constant(v) || deferred_constant(g, v)); }
std::optional<Tensor> known(const Graph& g, ValueId v);

}  // namespace cameo::engine
