// Places in a tensor as one number each: what gathering and scattering kernels and their expansions share.
#pragma once

#include <span>
#include <vector>

#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/on.h"

namespace cameo::ops {

// What GatherElements and ScatterElements need of data (input 0) and indices (input 1): `axis` inside the rank, equal
// ranks, and off the axis no more indices than data.
void check_indices_fit(Infer& c, int64_t axis);

// Where each element of `indices` (as GatherElements and ScatterElements read them along `axis`) lies in `shape`.
// Throws "eval.index" when an index is outside its axis or the shapes do not fit.
std::vector<int64_t> places_along(std::span<const int64_t> shape, const Tensor& indices, int64_t axis);

// Where each row of `indices` (as GatherND and ScatterND read them) begins in `shape`, and how many elements follow.
struct Rows {
  std::vector<int64_t> starts;
  int64_t length = 1;
};
Rows rows_at(std::span<const int64_t> shape, const Tensor& indices, int64_t batch_dims);

// The same as nodes, for known sizes. Indices may be negative.
ValueId emit_places_along(On& on, std::span<const int64_t> shape, ValueId indices, int64_t axis);
// Indices of rows, counted in rows; the last axis of `indices` is gone.
ValueId emit_rows_at(On& on, std::span<const int64_t> shape, ValueId indices, int64_t batch_dims);

}  // namespace cameo::ops
