// Results of iterations put together along a new axis.
#pragma once

#include <vector>

#include "ops/eval.h"

namespace cameo::ops {

class Stack {
 public:
  void add(const Datum& step);  // throws "eval.shape" when it is not a tensor
  // Along `axis` of the result. Without any step the type gives element type and shape (unknown sizes count as 0).
  Tensor joined(int64_t axis, bool backwards, const Type& type) const;

 private:
  std::vector<Tensor> steps_;
};

}  // namespace cameo::ops
