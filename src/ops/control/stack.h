// Results of iterations put together along a new axis.
#pragma once

#include <vector>

#include "ir/graph.h"
#include "ops/eval.h"
#include "ops/infer.h"

namespace cameo::ops {

class Stack {
 public:
  void add(const Datum& step);  // throws "eval.shape" when it is not a tensor
  // Along `axis` of the result. Without any step the type gives element type and shape (unknown sizes count as 0).
  Tensor joined(int64_t axis, bool backwards, const Type& type) const;

 private:
  std::vector<Tensor> steps_;
};

// A Loop or Scan without a turn gives no results to stack. Their sizes are then those that the file declares for the
// body's outputs: what the body would make of the sizes at hand is nothing that it can be asked for. A declaration is
// dropped before a run (gate.h), so its sizes are kept as a note on the value.
void note_declared_stacks(Graph& g);

// What output `i` of the node is without a turn. Sizes that the declaration leaves open are as inferred.
Type stacked_type(const Graph& g, NodeId n, size_t i);

// Before a run: output `i`, whose type is set, may come of no turn. Only sizes that hold either way stay known.
void set_stacked(Infer& c, size_t i, Dim turns);

}  // namespace cameo::ops
