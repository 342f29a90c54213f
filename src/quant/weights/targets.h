// Which constant weights of a model can be stored in few bits, and what reads them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "quant/weights/matrix.h"

namespace cameo::quant {

struct WeightUse {
  enum class Kind : uint8_t { product, gather };
  Kind kind = Kind::product;
  NodeId node;
  NodeId transpose;  // between the weight and the node; none: it reads the weight itself
};

struct WeightTarget {
  ValueId value;
  std::shared_ptr<const Weight> weight;  // as stored
  bool columns_are_outputs = false;      // [depth, outputs], as MatMul reads it
  std::vector<WeightUse> uses;
  std::string why_not;  // it has to stay as it is

  // One row per output.
  std::shared_ptr<const Weight> rows() const;
};

// Of all constants with two axes that MatMul, Gemm or Gather read, in order. `others`: what else may read them.
std::vector<WeightTarget> weight_targets(const Graph& g, bool others_may_read);

// The same of one value, whatever gives it; nothing where no such node reads it. Its weight is not set.
std::optional<WeightTarget> weight_uses(const Graph& g, ValueId v, bool others_may_read);

}  // namespace cameo::quant
