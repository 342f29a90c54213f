#include "ops/tensor/linear_index.h"

#include <numeric>

namespace cameo::ops {

namespace {

int64_t checked(int64_t index, int64_t size) {
  if (index < -size || index >= size)
    throw error("eval.index", cat("index ", index, " is outside an axis of size ", size));
  return index < 0 ? index + size : index;
}

// index + size * (index < 0)
ValueId counted_from_front(On& on, ValueId indices, ValueId sizes) {
  const ValueId negative = on.Cast(on.Less(indices, on.int_scalar(0)), {.to = static_cast<int64_t>(DType::i64)});
  return on.Add(indices, on.Mul(negative, sizes));
}

std::span<const int64_t> part(std::span<const int64_t> s, int64_t from, int64_t count) {
  return s.subspan(static_cast<size_t>(from), static_cast<size_t>(count));
}

}  // namespace

void check_indices_fit(Infer& c, int64_t axis) {
  const int64_t along = c.axis(axis, c.rank(0));
  if (c.rank(0) != c.rank(1)) c.fail("infer.rank", cat("indices of rank ", c.rank(1), " for data of rank ", c.rank(0)));
  for (int64_t i = 0; i < c.rank(0); ++i)
    if (i != along && c.graph().facts.less_equal(c.dim(1, i), c.dim(0, i)) == Answer::no)
      c.fail("infer.mismatch",
             cat("indices of size ", c.dim(1, i).text(), " for data of size ", c.dim(0, i).text(), " on axis ", i));
}

std::vector<int64_t> places_along(std::span<const int64_t> shape, const Tensor& indices, int64_t axis) {
  if (indices.rank() != static_cast<int64_t>(shape.size()))
    throw error("eval.index", cat("indices of rank ", indices.rank(), " for a tensor of rank ", shape.size()));
  const auto ax = static_cast<size_t>(axis);
  for (size_t i = 0; i < shape.size(); ++i)
    if (i != ax && indices.shape()[i] > shape[i])
      throw error("eval.index", cat("indices of size ", indices.shape()[i], " on axis ", i, " of size ", shape[i]));
  auto strides = row_major_strides(shape);
  const int64_t stride = strides[ax];
  strides[ax] = 0;
  auto places = strided_indices(indices.shape(), strides);
  const Loaded<int64_t> index(indices);
  for (int64_t i = 0; i < index.size(); ++i) places[static_cast<size_t>(i)] += stride * checked(index[i], shape[ax]);
  return places;
}

Rows rows_at(std::span<const int64_t> shape, const Tensor& indices, int64_t batch_dims) {
  const auto rank = static_cast<int64_t>(shape.size());
  if (indices.rank() < 1) throw error("eval.index", "indices without an axis");
  const int64_t depth = indices.shape().back();
  if (batch_dims < 0 || batch_dims >= indices.rank() || batch_dims + depth > rank)
    throw error("eval.index",
                cat("indices of ", depth, " numbers after ", batch_dims, " batch axes for a tensor of rank ", rank));
  for (int64_t i = 0; i < batch_dims; ++i)
    if (indices.shape()[static_cast<size_t>(i)] != shape[static_cast<size_t>(i)])
      throw error("eval.index", cat("batch axis ", i, " differs in size"));
  const auto strides = row_major_strides(shape);
  const int64_t batches = element_count(part(shape, 0, batch_dims)),
                tuples = element_count(part(indices.shape(), 0, indices.rank() - 1));
  const int64_t in_batch = batches ? tuples / batches : 0,
                batch_stride = element_count(part(shape, batch_dims, rank - batch_dims));
  Rows out;
  out.length = element_count(part(shape, batch_dims + depth, rank - batch_dims - depth));
  const Loaded<int64_t> index(indices);
  for (int64_t t = 0; t < tuples; ++t) {
    int64_t at = in_batch ? t / in_batch * batch_stride : 0;
    for (int64_t d = 0; d < depth; ++d) {
      const auto axis = static_cast<size_t>(batch_dims + d);
      at += strides[axis] * checked(index[t * depth + d], shape[axis]);
    }
    out.starts.push_back(at);
  }
  return out;
}

ValueId emit_places_along(On& on, std::span<const int64_t> shape, ValueId indices, int64_t axis) {
  auto strides = row_major_strides(shape);
  const auto ax = static_cast<size_t>(axis);
  const int64_t stride = strides[ax];
  strides[ax] = 0;
  const auto sizes = known_shape(on.shape(indices));
  const Tensor base = store(DType::i64, *sizes, strided_indices(*sizes, strides));
  const ValueId index = counted_from_front(on, on.cast(indices, DType::i64), on.int_scalar(shape[ax]));
  return on.Add(on.Mul(index, on.int_scalar(stride)), on.constant(base));
}

ValueId emit_rows_at(On& on, std::span<const int64_t> shape, ValueId indices, int64_t batch_dims) {
  const auto sizes = *known_shape(on.shape(indices));
  const int64_t depth = sizes.back();
  const auto addressed = part(shape, batch_dims, depth);
  const auto strides = row_major_strides(addressed);
  const ValueId index = counted_from_front(on, on.cast(indices, DType::i64), on.ints(addressed));
  const int64_t last = static_cast<int64_t>(sizes.size()) - 1;
  const ValueId rows = on.ReduceSum(on.Mul(index, on.ints(strides)), on.ints({last}), {.keepdims = 0});
  if (batch_dims == 0) return rows;
  // Each batch begins `element_count(addressed)` rows after the one before.
  std::vector<int64_t> batch(sizes.begin(), sizes.begin() + batch_dims);
  std::vector<int64_t> starts(static_cast<size_t>(element_count(batch)));
  std::iota(starts.begin(), starts.end(), 0);
  for (int64_t& s : starts) s *= element_count(addressed);
  batch.resize(static_cast<size_t>(last), 1);
  return on.Add(rows, on.constant(store(DType::i64, batch, starts)));
}

}  // namespace cameo::ops
