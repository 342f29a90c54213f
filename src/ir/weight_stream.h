// The dense bytes of a weight, a tile at a time: the memory for writing does not grow with the tensor.
#pragma once

#include <functional>
#include <span>

#include "ir/tensor.h"

namespace cameo::ir {

// Calls `sink` with the bytes in order; a weight that lies dense already in one call, without a copy. Not for strings.
// Throws file.tensor-bounds when the recipe reaches outside its source.
void stream_dense(const Weight& w, const std::function<void(std::span<const std::byte>)>& sink);

// The elements of rows [first, first + rows) of axis 0, strides and scale applied; all of it when the weight has no
// axes. Preconditions: source_dtype == dtype, whole bytes, `out` has the room, and the recipe was checked by
// check_inside.
void gather_rows(const Weight& w, int64_t first, int64_t rows, std::byte* out);
void check_inside(const Weight& w);

}  // namespace cameo::ir
