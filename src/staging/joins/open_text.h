// Strings with ints that only a run knows: str(x.size(0)), f"block{i}" with a counter. ONNX joins no text; but whether
// such a string is another one is decided by its ints, and its length follows from them.
#pragma once

#include "staging/machine/machine.h"

namespace cameo::staging {

// The parts of a string, known or open: strings and ints by turns.
std::vector<Value> parts_of_text(const Value& text);
// A string of these parts: a string where all of them are known. `why` is what a use says that needs the string itself.
Value text_of_parts(const std::vector<Value>& parts, Poison why);

// Neither throws: two open strings that cannot be told apart by their ints give what the first is elsewhere, a poison.
Value equal_text(Machine& s, const Value& a, const Value& b);
Dim length_of_text(Machine& s, const OpenText& text);

}  // namespace cameo::staging
