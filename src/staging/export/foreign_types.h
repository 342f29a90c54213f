// Declared types of what operators give that stay foreign nodes (`--type`).
#pragma once

#include "staging/machine/machine.h"

namespace cameo::staging {

// Nodes that stand for the operator "mylib::op", without its overload.
size_t foreign_calls(const Graph& g, std::string_view op);
// Of call number `call` of the operator; empty: none are declared. Declarations for one operator are for its calls in
// order, the last one for all that follow.
std::vector<Type> declared_types(Machine& s, std::string_view op, size_t call, const Schema* schema,
                                 const CallArgs& args);
void report_unused_types(const Machine& s, DiagSink& sink);

}  // namespace cameo::staging
