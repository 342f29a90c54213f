// What stands between DequantizeLinear and QuantizeLinear: operands, and the chain of operators to the end.
#pragma once

#include <optional>
#include <vector>

#include "engine/compiler.h"
#include "engine/simd/byte_rows.h"

namespace cameo::engine {

// One scale and one zero point, both constant.
struct Quantum {
  float scale = 1, zero = 0;
};

std::optional<Quantum> quantum_of(Compiler& c, const Node& n);

struct Operand {
  ValueId bytes;
  Quantum q;
  DType type = DType::u8;
};

// What the node dequantizes, if it is bytes with one scale.
std::optional<Operand> dequantized(Compiler& c, NodeId n);

// What a chain is made of: the nodes between, and the QuantizeLinear at its end.
struct Chain {
  std::vector<NodeId> nodes;
  NodeId end;
};

// From a value that one node reads to the QuantizeLinear, over operators that look at each element alone.
std::optional<Chain> chain_from(Compiler& c, ValueId v);
// What becomes of each byte of the operand that node `n` dequantizes: by the reference kernels.
std::optional<ByteTable> table_of(Compiler& c, NodeId n, const Operand& x, const Chain& chain);

// The same layout, of another type.
Desc like(const Desc& lies, DType type);
SlotId dense_slot(Compiler& c, ValueId v);
// The step, and the value that it gives; absorbs the chain.
void finish(Compiler& c, NodeId n, const Chain& chain, const std::string& first, std::unique_ptr<Kernel> kernel,
            std::vector<SlotId> in, const Desc& lies);

// Operands where one is a number for each part of the other: `whole` in [outer, middle, inner], `part` in [middle].
struct BroadcastStep {
  std::unique_ptr<Kernel> kernel;
  SlotId whole, part;
};
std::optional<BroadcastStep> broadcast_step(Compiler& c, ValueId whole, ValueId part, const std::vector<int64_t>& dims,
                                            bool adds, const ByteBinary& p);
// Dequantized operands that are joined, then quantized.
bool emit_byte_concat(Compiler& c, NodeId n, const Operand& x);

}  // namespace cameo::engine
