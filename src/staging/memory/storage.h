// Which results share their operand's memory, by PyTorch's own rules, and how new results lie in memory.
#pragma once

#include "staging/machine/machine.h"

namespace cameo::staging {

// One result of an operator of which the first argument may be the memory.
struct SharingCall {
  Machine& s;
  const Schema& schema;
  const std::vector<Value>& args;
  V before, after;  // the first argument's value and the result's
  Dims shape;       // of the first argument
  Layout layout;
};
// Whether result `i` is the first argument's memory, or a part of it, in some case: as its schema says, or as its code
// does.
bool may_share(const Schema& s, size_t i);
// Whether it is here, and the layout it has; a view that no row knows has an unknown one.
Verdict sharing(const SharingCall& c);
// Whether the call, where it changes nothing, returns its argument and not another tensor with the same memory.
bool gives_itself(const Schema& s);
// Results that may share memory with any argument, of which no schema tells (broadcast_tensors, einsum of one operand).
bool may_share_any(const Machine& s, const Schema& schema, const std::vector<Value>& args);

// The layout of a result in memory of its own.
Layout fresh_layout(Machine& s, const Schema& schema, const std::vector<Value>& args, V result);
// memory_format=...: the axes from the outermost to the innermost; nullopt: not said, or that of the operand.
std::optional<Ints> asked_order(Machine& s, const Schema& schema, const std::vector<Value>& args, size_t rank);

}  // namespace cameo::staging
