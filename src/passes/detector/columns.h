// Where the rows of a detector's output come from: which of them one operator made, and whether as probabilities.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace cameo::passes {

enum class Nature : uint8_t {
  linear,       // a Conv, Gemm or MatMul: logits, or offsets that are not decoded
  probability,  // Sigmoid, or a product of such
  softmax,
  computed,  // anything else
};

struct Columns {
  int64_t count = 0;
  Nature nature = Nature::computed;
};

// Of a value, looking through what only moves elements.
Nature nature_of(const Graph& g, ValueId v);

// Neighbouring columns along an axis, by what made them: Concat, Slice and Split along the axis are followed, as is
// what moves elements along others. Of joined levels the first tells. Empty where the size of the axis is not known.
std::vector<Columns> columns_of(const Graph& g, ValueId v, int64_t axis);

// Values that were joined along other axes to make this one: the levels of a detector, finest first as a rule. The
// value itself where it was not joined.
std::vector<ValueId> levels_of(const Graph& g, ValueId v, int64_t axis);

// Whether an operator of one of these names is needed to compute the value.
bool depends_on(const Graph& g, ValueId v, std::initializer_list<std::string_view> operators);

}  // namespace cameo::passes
