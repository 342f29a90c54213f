// Truth with three values: yes, no, and what only a run can tell, which is a bool of the graph. Nothing here takes "not
// known" for "no".
#pragma once

#include "staging/machine/machine.h"

namespace cameo::staging {

inline bool is_truth(const Value& v) { return v.is<bool>() || v.is<StagedBool>(); }

// These give a bool, a StagedBool, or the poison among their operands; remembered as conditions.
Value negated(Machine& s, const Value& truth);
Value both(Machine& s, const Value& a, const Value& b);
Value either(Machine& s, const Value& a, const Value& b);

// a == b of Python, through lists, tuples and optional values. Throws stage.equal where ONNX has no words for the
// question.
Value equal(Machine& s, const Value& a, const Value& b);

// Whether a value is among others.
Value among(Machine& s, const std::vector<Value>& list, const Value& v);
Value among(Machine& s, const StagedList& list, const Value& v);

// What `a if truth else b` gives when both are there already (join.cpp).
Value chosen(Machine& s, const Value& truth, const Value& a, const Value& b);

}  // namespace cameo::staging
