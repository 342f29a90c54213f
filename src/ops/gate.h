// The gate before compute. An operator says in one place what it needs of its operands, its shape rule, and kernels
// rely on it: before a kernel runs, the rule runs with the types and sizes that the kernel will get. What a file
// declares about values is ignored here.
#pragma once

#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "ir/graph.h"
#include "kernels/datum.h"

namespace cameo::ops {

// What the file declared about values between inputs and outputs goes; a weight's type is that of its data.
void forget_declared(Graph& g);
// The same before a run, which needs to know what a loop gives that never turns (control/stack.h).
void forget_before_run(Graph& g);

// Graphs share their table of dims with their copies: while several threads may infer, one at a time does. The same
// thread may come again: the shape rule of a custom kernel may run a model.
std::recursive_mutex& inferring();

// The type of a value that is there. Sizes inside sequences and maps stay open; what is empty has an unknown type.
Type real_type(const Datum& d);

// The same, where an empty optional or sequence leaves to the declaration what could be in it.
Type given_type(const Datum& d, const Type& declared);

// A node whose operands' facts are real. Its outputs get the rule's types. Throws what the rule refuses; bodies are
// checked when they run.
void check_node(Graph& g, NodeId n);

// A node's operands as they come; gives what its rule makes of them. Nodes with bodies are not judged, and nothing is
// known of their results: their kernels and their bodies' nodes are.
std::vector<Type> check_call(const Graph& g, NodeId n, std::span<const Datum* const> inputs);
std::vector<Type> check_call(const Node& n, std::span<const Datum* const> inputs);
// What the node's shape rule makes of these operands. Precondition: no bodies.
std::vector<Type> called_types(const Node& n, std::span<const Datum* const> inputs);

// The results of a node without bodies where its rule says that none of them has elements: no kernel is asked, since
// kernels may go over the other sizes, which cost a file nothing.
std::optional<std::vector<Datum>> results_of_nothing(std::span<const Type> types);

}  // namespace cameo::ops
