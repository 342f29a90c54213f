// What stands between DequantizeLinear and QuantizeLinear, in one pass from bytes to bytes.
#pragma once

#include "engine/compiler.h"

namespace cameo::engine {

// At a DequantizeLinear: a chain of operators of one operand becomes a table; a sum or product of two dequantized
// operands, and an average over whole planes, a step. False where something else follows.
bool emit_byte_chain(Compiler& c, NodeId dequantize);

}  // namespace cameo::engine
