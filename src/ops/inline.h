// Calls of local functions replaced by what they do.
#pragma once

#include "ir/clone.h"

namespace cameo::ops {

// Puts the function's body in place of a call. Outputs keep the call's names. Throws model.function when the call gives
// more operands than the function has, model.attribute for a value of the wrong kind.
void inline_call(Graph& g, NodeId call, const LocalFunction& f);
// Inlines every call, calls inside functions included, and drops the functions. Throws model.function-cycle, and
// budget.functions where that would be more nodes than `most_expanded`, model.function-size past `max_nodes`.
void inline_functions(Model& m, size_t max_nodes = 4'000'000);
// Functions that call each other twice double what they expand to: more nodes than this, all calls counted, are refused
// before anything is expanded or inferred.
inline constexpr uint64_t most_expanded = 500'000;
void check_expansion(const Graph& g, std::span<const LocalFunction> functions);
// Drops functions that are not called, and opset imports that no node needs. Nothing is dropped if the file has
// fields that Cameo does not interpret, which may call them.
void drop_uncalled(Model& m);

}  // namespace cameo::ops
