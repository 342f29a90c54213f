#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/nn/heads.h"
#include "ops/op_def.h"

namespace cameo::ops {

namespace {

struct FlexAttention : Rules<op::FlexAttention> {
  using A = op::FlexAttention;
  static constexpr size_t prob_mod = 0, score_mod = 1;  // regions, in the order of their names

  // What scores and probabilities are computed in.
  static DType inside(const A& a, DType given) {
    if (a.softmax_precision)
      if (const auto t = dtype_from_number(*a.softmax_precision)) return *t;
    return given == DType::f64 ? DType::f64 : DType::f32;
  }

  static void infer(const A& a, Infer& c) {
    for (size_t i = 0; i < 3; ++i) want_rank(c, i, 4, cat("input ", i));
    if (!is_float(inside(a, c.dtype(0))))
      c.fail("infer.attribute", cat("softmax_precision is ", name(inside(a, c.dtype(0)))));
    want_heads(c, c.dim(0, 1), c.same(c.dim(1, 1), c.dim(2, 1), "the heads of K and V"));
    for (size_t i = 1; i < 3; ++i) c.same(c.dim(0, 0), c.dim(i, 0), "the batches of Q, K and V");
    c.same(c.dim(0, 3), c.dim(1, 3), "the head sizes of Q and K");
    const Dim keys = c.same(c.dim(1, 2), c.dim(2, 2), "the lengths of K and V");
    c.out(0, {c.dim(0, 0), c.dim(0, 1), c.dim(0, 2), c.dim(2, 3)});
    Fact scores;
    scores.type = Type::tensor(inside(a, c.dtype(0)), {c.dim(0, 0), c.dim(0, 1), c.dim(0, 2), keys});
    for (size_t i = 0; i < c.node().regions.size(); ++i)
      if (c.region_id(i)) c.region(i, std::span<const Fact>(&scores, 1));
  }

  static Tensor modified(Eval& k, size_t region, const Tensor& t) {
    if (!k.has_region || !k.has_region(region)) return t;
    auto out = k.run_region(region, {Datum(t)});
    if (out.size() != 1 || out[0].kind != Datum::Kind::tensor || out[0].tensor.shape() != t.shape())
      k.fail("eval.shape", "a modifier must keep the shape of what it modifies");
    return out[0].tensor;
  }

  static void eval(const A& a, Eval& k) {
    const Tensor &q = k.in(0), &key = k.in(1), &value = k.in(2);
    if (q.rank() != 4 || key.rank() != 4 || value.rank() != 4) k.fail("eval.shape", "Q, K and V must have rank 4");
    const int64_t batch = q.shape()[0], heads = q.shape()[1], length = q.shape()[2], size = q.shape()[3],
                  kv_heads = key.shape()[1], keys = key.shape()[2], v_size = value.shape()[3];
    if (kv_heads < 1 || heads % kv_heads || key.shape()[0] != batch || value.shape()[0] != batch ||
        value.shape()[1] != kv_heads || value.shape()[2] != keys || key.shape()[3] != size)
      k.fail("eval.shape", "the shapes of Q, K and V do not agree");
    const double scale = a.scale ? static_cast<double>(*a.scale) : 1 / std::sqrt(static_cast<double>(size));
    const DType precision = inside(a, q.dtype());
    const auto kv_row = [&](int64_t bh, int64_t j) {
      return (bh / heads * kv_heads + bh % heads / (heads / kv_heads)) * keys + j;
    };
    const Loaded<double> qs(q), ks(key), vs(value);
    std::vector<double> scores(static_cast<size_t>(element_count(std::vector<int64_t>{batch, heads, length, keys})));
    for (int64_t r = 0; r < batch * heads * length; ++r)
      for (int64_t j = 0; j < keys; ++j) {
        double sum = 0;
        for (int64_t d = 0; d < size; ++d) sum += qs[r * size + d] * ks[kv_row(r / length, j) * size + d];
        scores[static_cast<size_t>(r * keys + j)] = sum * scale;
      }
    const std::vector<int64_t> shape{batch, heads, length, keys};
    std::vector<double> p = modified(k, score_mod, store(precision, shape, scores)).to_doubles();
    for (size_t row = 0; keys && row < p.size(); row += static_cast<size_t>(keys)) {
      const std::span<double> line(p.data() + row, static_cast<size_t>(keys));
      const double top = *std::max_element(line.begin(), line.end());
      double sum = 0;
      for (double& v : line) sum += v = std::exp(v - top);
      for (double& v : line) v /= sum;
    }
    p = modified(k, prob_mod, store(precision, shape, p)).to_doubles();
    std::vector<double> y(static_cast<size_t>(element_count(std::vector<int64_t>{batch, heads, length, v_size})), 0);
    for (int64_t r = 0; r < batch * heads * length; ++r)
      for (int64_t j = 0; j < keys; ++j)
        for (int64_t d = 0; d < v_size; ++d)
          y[static_cast<size_t>(r * v_size + d)] +=
              p[static_cast<size_t>(r * keys + j)] * vs[kv_row(r / length, j) * v_size + d];
    k.out(0, store(q.dtype(), {batch, heads, length, v_size}, y));
  }
};

constexpr OpRules table[] = {rules<FlexAttention>()};

}  // namespace

std::span<const OpRules> flex_attention_rules() { return table; }

}  // namespace cameo::ops
