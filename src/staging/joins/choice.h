// Values that the inputs pick among known ones: a string that a branch or a loop decides. In the graph they are an
// index.
#pragma once

#include "staging/machine/machine.h"

namespace cameo::staging {

bool may_be_chosen(const Value& v);  // strings and enums: what a Choice is among
// One of `values`, all of one kind, by a 0-d int64. nullopt: they are of a kind that ONNX cannot pick among.
std::optional<Value> picked(Machine& s, V index, const std::vector<Value>& values);
// The index of `v` (one of the options, or another choice among some of them) in `options`.
V choice_index(Machine& s, const Value& v, const std::vector<Value>& options);
// f(option) for each option, and the one of them that is chosen; fails where they cannot be picked among.
Value for_each_option(Machine& s, const Choice& c, std::string_view what, const std::function<Value(const Value&)>& f);
std::string options_text(const Choice& c);  // "'a', 'b'"

}  // namespace cameo::staging
