// Sizes and types of generated signals.
#pragma once

#include "ops/math/elementwise.h"
#include "ops/preconditions.h"

namespace cameo::ops {

inline constexpr int64_t most_elements = int64_t{1} << 28;

inline DType output_type(const Infer& c, int64_t number) {
  const auto t = dtype_from_number(number);
  if (!t) c.fail("infer.attribute", cat("output_datatype ", number, " is not an element type"));
  return *t;
}

inline DType output_type(int64_t number) { return dtype_from_number(number).value_or(DType::undefined); }

inline Dim size_from(Infer& c, size_t i, std::string_view hint) {
  want_one(c, i, hint);
  const auto size = c.ints(i);
  return size && size->size() == 1 ? size->front() : c.fresh(hint);
}

}  // namespace cameo::ops
