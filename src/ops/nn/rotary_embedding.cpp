#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/nn/attention_expand.h"
#include "ops/op_def.h"
#include "ops/preconditions.h"

namespace cameo::ops {

namespace {

struct RotaryEmbedding : Rules<op::RotaryEmbedding> {
  using A = op::RotaryEmbedding;
  static void infer(const A& a, Infer& c) {
    if (c.rank(0) != 3 && c.rank(0) != 4)
      c.fail("infer.rank", cat("the input has rank ", c.rank(0), ": 3 or 4 is wanted"));
    const bool packed = c.rank(0) == 3;
    if (packed && a.num_heads.value_or(0) < 1) c.fail("infer.attribute", "rank 3 needs num_heads");
    if (packed) want_share(c, c.dim(0, 2), *a.num_heads, "the elements a step");
    else if (c.dim(0, 1).is(0)) c.fail("infer.mismatch", "there are 0 heads");
    const Dim batch = c.dim(0, 0), length = c.dim(0, packed ? 1 : 2),
              size = packed ? floor_div(c.dim(0, 2), *a.num_heads) : c.dim(0, 3);
    const Dim rotated = a.rotary_embedding_dim ? Dim(a.rotary_embedding_dim) : size;
    if (a.rotary_embedding_dim < 0 || (rotated.is_literal() && size.is_literal() && rotated.literal() > size.literal()))
      c.fail("infer.attribute", cat("rotary_embedding_dim is ", rotated.text(), ", the head size ", size.text()));
    // Rows by position, or a row for every step.
    if (c.has(3)) want_shape(c, 3, {batch, length}, "position_ids");
    want_rank(c, 1, c.has(3) ? 2 : 3, "cos_cache");
    want_shape(c, 1, c.has(3) ? Shape{c.dim(1, 0), floor_div(rotated, 2)} : Shape{batch, length, floor_div(rotated, 2)},
               "cos_cache");
    want_shape(c, 2, c.shape(1), "sin_cache");
    c.out(0, c.shape(0));
  }

  static void eval(const A& a, Eval& k) {
    const Tensor& x = k.in(0);
    const bool packed = x.rank() == 3;
    if (!packed && x.rank() != 4) k.fail("eval.shape", cat("the input has rank ", x.rank()));
    const int64_t heads = packed ? a.num_heads.value_or(0) : x.shape()[1];
    if (heads < 1 || (packed && x.shape()[2] % heads)) k.fail("eval.shape", cat("num_heads is ", heads));
    const int64_t batch = x.shape()[0], length = x.shape()[packed ? 1 : 2],
                  size = packed ? x.shape()[2] / heads : x.shape()[3];
    const int64_t rotated = a.rotary_embedding_dim ? a.rotary_embedding_dim : size, half = rotated / 2;
    if (rotated > size || rotated < 0 || k.in(1).rank() < 1 || k.in(1).shape().back() != half ||
        k.in(2).shape() != k.in(1).shape())
      k.fail("eval.shape", cat("caches for ", rotated, " of ", size, " elements are wanted"));
    const auto positions = k.has(3) ? k.ints(3) : std::vector<int64_t>{};
    const int64_t rows = half ? k.in(1).count() / half : 0;
    if (k.has(3) ? static_cast<int64_t>(positions.size()) != batch * length : rows != batch * length)
      k.fail("eval.shape", "the caches or positions do not suit the input");
    const Loaded<float> v(x), cos(k.in(1)), sin(k.in(2));
    std::vector<float> y(v.span().begin(), v.span().end());
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t t = 0; t < length; ++t) {
        const int64_t row = k.has(3) ? positions[static_cast<size_t>(b * length + t)] : b * length + t;
        if (half && (row < 0 || row >= rows))
          k.fail("eval.index", cat("position ", row, " is outside the caches' ", rows));
        for (int64_t h = 0; h < heads; ++h) {
          const int64_t at = (packed ? (b * length + t) * heads + h : (b * heads + h) * length + t) * size;
          for (int64_t j = 0; j < half; ++j) {
            const int64_t p = at + (a.interleaved ? 2 * j : j), q = a.interleaved ? p + 1 : p + half;
            const float c = cos[row * half + j], s = sin[row * half + j];
            y[static_cast<size_t>(p)] = c * v[p] - s * v[q];
            y[static_cast<size_t>(q)] = s * v[p] + c * v[q];
          }
        }
      }
    k.out(0, store(x.dtype(), x.shape(), y));
  }

  static constexpr Expansion expansions[] = {
      expansion<A>(23, Exactness::rounding, [](const A& a, Expand& e) { expand_rotary(a, e); })};
};

constexpr OpRules table[] = {rules<RotaryEmbedding>()};

}  // namespace

std::span<const OpRules> rotary_embedding_rules() { return table; }

}  // namespace cameo::ops
