// Elementwise operators behind a convolution or product that its kernel does while the result is in cache.
#pragma once

#include <vector>

#include "engine/simd/instruction.h"

namespace cameo::engine {

// What a kernel keeps of it. Operands are further inputs of the kernel, of the result's shape.
struct Epilogue {
  std::vector<Instruction> program;

  size_t operands() const;
  // On `n` results that begin `offset` floats into the output.
  void apply(const Buffers& b, int64_t offset, int64_t n) const;
};

// Collects what follows a node, and makes its step.
class Followers {
 public:
  Followers(Compiler& c, NodeId root, ValueId out);
  // `inputs`: how many the kernel has before the operands.
  Epilogue fuse(size_t inputs);
  // Precondition: fuse() was called, and `in` has as many inputs as it was told.
  void finish(std::unique_ptr<Kernel> kernel, std::vector<SlotId> in);

 private:
  std::optional<Instruction> follower(const Node& n, size_t inputs);
  Compiler& c_;
  NodeId root_;
  ValueId out_;
  std::string label_;
  std::vector<NodeId> absorbed_;
  std::vector<ValueId> reads_;
};

}  // namespace cameo::engine
