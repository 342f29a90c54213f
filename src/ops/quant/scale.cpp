#include "ops/quant/scale.h"

#include <cmath>

#include "ops/nn/expansions.h"
#include "ops/preconditions.h"

namespace cameo::ops {

ScaleMap scale_map(Eval& k, const Tensor& x, const Tensor& scale, int64_t axis, int64_t block_size) {
  ScaleMap m;
  if (scale.count() == 1 && block_size <= 0) return m;
  if (x.rank() == 0) k.fail("eval.shape", cat(scale.count(), " scales for one number"));
  const int64_t ax = x.rank() == 1 ? 0 : k.axis(axis, x.rank());
  const auto& shape = x.shape();
  for (int64_t i = 0; i < ax; ++i) m.outer *= shape[static_cast<size_t>(i)];
  for (int64_t i = ax + 1; i < x.rank(); ++i) m.inner *= shape[static_cast<size_t>(i)];
  m.length = shape[static_cast<size_t>(ax)];
  if (block_size <= 0) {
    m.count = scale.count();
    if (scale.rank() != 1 || m.count != m.length)
      k.fail("eval.shape", cat(m.count, " scales along an axis of size ", m.length));
    return m;
  }
  m.blocked = true;
  m.block = block_size;
  if (scale.rank() != x.rank())
    k.fail("eval.shape", cat("scales of rank ", scale.rank(), " for blocks of a tensor of rank ", x.rank()));
  m.count = scale.shape()[static_cast<size_t>(ax)];
  if (scale.count() != m.outer * m.count * m.inner || m.count != (m.length == 0 ? 0 : (m.length - 1) / block_size + 1))
    k.fail("eval.shape", cat(m.count, " scales for blocks of ", block_size, " along an axis of size ", m.length));
  return m;
}

void infer_scale(Infer& c, int64_t axis, int64_t block_size) {
  if (block_size < 0) c.fail("infer.attribute", cat("block_size is ", block_size));
  const bool one = c.rank(1) == 0 || (c.rank(1) == 1 && c.dim(1, 0).is(1));  // said by a scalar, or by a vector of one
  if (c.has(2) && one) want_one(c, 2, "the zero point");
  else if (c.has(2)) want_shape(c, 2, c.shape(1), "the zero point");
  if (block_size == 0) {
    if (c.rank(1) > 1) c.fail("infer.rank", cat("the scale has rank ", c.rank(1), " and there is no block_size"));
    if (one) return;
    if (c.rank(0) == 0) return want_one(c, 1, "the scale of one number");
    c.same(c.dim(0, c.rank(0) == 1 ? 0 : c.axis(axis, c.rank(0))), c.dim(1, 0), "the axis's size and the scales'");
    return;
  }
  if (c.rank(1) != c.rank(0))
    c.fail("infer.rank", cat("blocks need a scale of the input's rank ", c.rank(0), ", not ", c.rank(1)));
  const int64_t ax = c.axis(axis, c.rank(0));
  for (int64_t i = 0; i < c.rank(0); ++i)
    c.same(i == ax ? ceil_div(c.dim(0, i), block_size) : c.dim(0, i), c.dim(1, i), "the blocks and the scales");
}

double lowest_of(DType t) { return is_signed_int(t) ? -std::ldexp(1.0, bits(t) - 1) : 0; }
double highest_of(DType t) { return std::ldexp(1.0, bits(t) - (is_signed_int(t) ? 1 : 0)) - 1; }

bool is_one_scale(const Graph& g, ValueId scale) {
  const Fact& f = g[scale].fact;
  return f.has_rank() && (f.rank() == 0 || (f.rank() == 1 && f.shape()[0].is(1)));
}

ValueId spread_scale(Expand& e, ValueId v, int64_t axis, int64_t block_size) {
  On& on = e.on;
  if (is_one_scale(e.graph, v)) return v;
  if (!ranks_known(e) || !on.has_rank(v))
    return e.refuse("the rank of the input or of the scale is unknown"), ValueId();
  const int64_t rank = e.fact(0).rank(), ax = rank == 1 ? 0 : axis < 0 ? axis + rank : axis;
  if (block_size == 0) {
    std::vector<int64_t> sizes(static_cast<size_t>(rank), 1);
    sizes[static_cast<size_t>(ax)] = -1;
    return rank == 1 ? v : on.Reshape(v, on.ints(sizes));
  }
  // [.., n, ..] -> [.., n, 1, ..] -> [.., n, block, ..] -> [.., n * block, ..], cut to the input's size.
  const auto length = e.fact(0).shape()[static_cast<size_t>(ax)].known(),
             count = on.shape(v)[static_cast<size_t>(ax)].known();
  if (!length || !count) return e.refuse("the size of the blocked axis is unknown"), ValueId();
  std::vector<int64_t> repeats(static_cast<size_t>(rank + 1), 1), merged;
  repeats[static_cast<size_t>(ax + 1)] = block_size;
  for (int64_t i = 0; i < rank; ++i) {
    const auto d = on.shape(v)[static_cast<size_t>(i)].known();
    if (!d) return e.refuse("the scale's shape is unknown"), ValueId();
    merged.push_back(i == ax ? *count * block_size : *d);
  }
  const ValueId wide = on.Expand(unsqueeze(on, v, {ax + 1}), on.ints(repeats));
  const ValueId all = on.Reshape(wide, on.ints(merged));
  return *count * block_size == *length ? all : slice_axis(on, all, ax, 0, *length);
}

}  // namespace cameo::ops
