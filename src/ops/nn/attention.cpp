#include <cmath>
#include <limits>

#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/nn/attention_expand.h"
#include "ops/nn/heads.h"
#include "ops/op_def.h"

namespace cameo::ops {

namespace {

using A = op::Attention;

struct Attention : Rules<A> {
  static void infer(const A& a, Infer& c) {
    constexpr size_t mask = 3, past_key = 4, past_value = 5, valid = 6;
    for (size_t i = 0; i < 3; ++i)  // of some of them nothing may be known
      if (c.has_rank(i) && c.rank(i) != 3 && c.rank(i) != 4)
        c.fail("infer.rank", cat("input ", i, " has rank ", c.rank(i), ": 3 or 4 is wanted"));
    const int64_t rank = c.rank(0);
    if ((rank != 3 && rank != 4) || c.rank(1) != rank || c.rank(2) != rank)
      c.fail("infer.rank",
             cat("Q, K and V have ranks ", rank, ", ", c.rank(1), " and ", c.rank(2), ": all 3 or all 4 are wanted"));
    if (c.has(past_key) != c.has(past_value)) c.fail("infer.input", "past_key and past_value must be given together");
    const bool packed = rank == 3;
    if (a.qk_matmul_output_mode < 0 || a.qk_matmul_output_mode > 3)
      c.fail("infer.attribute", cat("qk_matmul_output_mode is ", a.qk_matmul_output_mode));
    if (packed && (!a.q_num_heads || !a.kv_num_heads || *a.q_num_heads < 1 || *a.kv_num_heads < 1))
      c.fail("infer.attribute", "rank 3 needs q_num_heads and kv_num_heads");
    const Dim length = c.dim(0, rank - 2);
    const Dim heads = packed ? Dim(*a.q_num_heads) : c.dim(0, 1),
              kv_heads = packed ? Dim(*a.kv_num_heads) : c.same(c.dim(1, 1), c.dim(2, 1), "the heads of K and V");
    want_heads(c, heads, kv_heads);
    if (packed)
      for (size_t i = 0; i < 3; ++i)
        want_share(c, c.dim(i, 2), i ? *a.kv_num_heads : *a.q_num_heads, cat("the elements a step of input ", i));
    Dim batch = c.dim(0, 0);
    for (size_t i = 1; i < 3; ++i) batch = c.same(batch, c.dim(i, 0), "the batches of Q, K and V");
    const Dim size = packed ? floor_div(c.dim(1, 2), kv_heads) : c.dim(1, 3),
              v_size = packed ? floor_div(c.dim(2, 2), kv_heads) : c.dim(2, 3);
    c.same(packed ? floor_div(c.dim(0, 2), heads) : c.dim(0, 3), size, "the head sizes of Q and K");
    const Dim fresh_length = c.same(c.dim(1, rank - 2), c.dim(2, rank - 2), "the lengths of K and V");
    Dim total = fresh_length;
    if (c.has(past_key)) {
      want_rank(c, past_key, 4, "past_key");
      want_shape(c, past_key, {batch, kv_heads, c.dim(past_key, 2), size}, "past_key");
      want_shape(c, past_value, {batch, kv_heads, c.dim(past_key, 2), v_size}, "past_value");
      total = c.dim(past_key, 2) + fresh_length;
    }
    if (c.has(mask)) want_mask(c, c.shape(mask), {batch, heads, length, total});
    if (c.has(valid)) want_shape(c, valid, {batch}, "nonpad_kv_seqlen");
    if (packed) c.out(0, {batch, length, heads * v_size});
    else c.out(0, {batch, heads, length, v_size});
    c.out(1, {batch, kv_heads, total, size});
    c.out(2, {batch, kv_heads, total, v_size});
    c.out(3, {batch, heads, length, total});
  }

  // A mask may end before the last key.
  static void want_mask(Infer& c, const Shape& mask, Shape scores) {
    if (mask.empty()) c.fail("infer.rank", "the mask is a scalar");
    const Dim keys = std::exchange(scores.back(), mask.back());
    if (mask.back().is_literal() && keys.is_literal() && mask.back().literal() > keys.literal())
      c.fail("infer.mismatch", cat("a mask for ", mask.back().text(), " keys where there are ", keys.text()));
    want_broadcast(c, mask, scores, "the mask");
  }

  struct Sizes {
    int64_t batch, heads, kv_heads, length, total, past, size, v_size;
  };

  // K or V as [batch, heads, length, size], after what is in the cache.
  static Tensor with_past(Eval& k, const Tensor& t, int64_t heads, size_t past) {
    Tensor fresh = t;
    if (t.rank() == 3) {
      const int64_t b = t.shape()[0], n = t.shape()[1], size = t.shape()[2] / heads;
      const int64_t strides[] = {n * heads * size, size, heads * size, 1};
      fresh = strided(t, {b, heads, n, size}, strides);
    }
    if (!k.has(past)) return fresh;
    if (k.in(past).rank() != 4) k.fail("eval.shape", "the cache must have rank 4");
    const Tensor parts[] = {k.in(past), fresh};
    return concat(parts, 2);
  }

  static Sizes sizes_of(const A& a, Eval& k, const Tensor& key, const Tensor& value, int64_t kv_heads) {
    const Tensor& q = k.in(0);
    const bool packed = q.rank() == 3;
    const int64_t heads = packed ? a.q_num_heads.value_or(0) : q.shape()[1];
    if (heads < 1 || heads % kv_heads || (packed && q.shape()[2] % heads))
      k.fail("eval.shape", cat(heads, " query heads over ", kv_heads, " key heads"));
    Sizes s{q.shape()[0],   heads,
            kv_heads,       q.shape()[packed ? 1 : 2],
            key.shape()[2], k.has(4) ? k.in(4).shape()[2] : 0,
            key.shape()[3], value.shape()[3]};
    if (key.shape()[0] != s.batch || value.shape()[0] != s.batch || value.shape()[1] != kv_heads ||
        value.shape()[2] != s.total || q.shape().back() != (packed ? heads * s.size : s.size))
      k.fail("eval.shape", "the shapes of Q, K and V do not agree");
    if (k.has(6) && k.in(6).count() != s.batch)
      k.fail("eval.shape", "nonpad_kv_seqlen must have one element per batch");
    return s;
  }

  // What is added to every score: mask, causality, windows and padding, as a function of (batch, head, query, key).
  class Bias {
   public:
    Bias(const A& a, Eval& k, const Sizes& s) : a_(a), s_(s) {
      if (k.has(6)) valid_ = k.ints(6);
      for (const int64_t v : valid_)
        if (v < 0 || v > s.total)
          k.fail("eval.index", cat("nonpad_kv_seqlen is ", v, " where there are ", s.total, " keys"));
      if (!k.has(3)) return;
      const Tensor& m = k.in(3);
      if (m.rank() > 4 || m.rank() < 1) k.fail("eval.shape", cat("a mask of rank ", m.rank()));
      is_bool_ = m.dtype() == DType::boolean;
      given_ = m.shape().back();
      mask_ = m.to_doubles();
      const int64_t full[] = {s.batch, s.heads, s.length, given_};
      if (broadcast_shape(m.shape(), full) != std::vector<int64_t>(std::begin(full), std::end(full)))
        k.fail("eval.shape", "the mask does not broadcast over the scores");
      strides_ = broadcast_strides(m.shape(), full);
      if (given_ > s.total) k.fail("eval.shape", cat("a mask for ", given_, " keys where there are ", s.total));
    }

    double at(int64_t b, int64_t h, int64_t i, int64_t j) const {
      constexpr double never = -std::numeric_limits<double>::infinity();
      const int64_t offset = !valid_.empty() && !s_.past ? valid_[static_cast<size_t>(b)] - s_.length : s_.past;
      const int64_t behind = i + offset - j;
      if (a_.is_causal && behind < 0) return never;
      if ((a_.left_window_size >= 0 && behind > a_.left_window_size) ||
          (a_.right_window_size >= 0 && -behind > a_.right_window_size))
        return never;
      if (!valid_.empty() && j >= valid_[static_cast<size_t>(b)]) return never;
      if (mask_.empty()) return given_ == 0 ? never : 0;
      if (j >= given_) return never;
      const double m =
          mask_[static_cast<size_t>(b * strides_[0] + h * strides_[1] + i * strides_[2] + j * strides_[3])];
      return is_bool_ ? (m != 0 ? 0 : never) : m;
    }

   private:
    const A& a_;
    const Sizes& s_;
    std::vector<int64_t> valid_, strides_;
    std::vector<double> mask_;
    int64_t given_ = -1;
    bool is_bool_ = false;
  };

  // The rounding that a narrower type does.
  static double through(DType t, double v) {
    if (t == DType::f64) return v;
    if (t == DType::f32) return static_cast<double>(static_cast<float>(v));
    return static_cast<double>(decode_float(t, encode_float(t, v)));
  }
  static std::vector<double> scaled(const Tensor& t, double factor) {
    std::vector<double> out = t.to_doubles();
    for (double& v : out) v = through(t.dtype(), v * factor);
    return out;
  }

  static void softmax(std::vector<double>& row, bool masked, DType t) {
    if (masked) {
      row.assign(row.size(), 0);
      return;
    }
    double top = -std::numeric_limits<double>::infinity(), sum = 0;
    for (const double v : row) top = std::max(top, v);
    for (double& v : row) {
      v = through(t, std::exp(through(t, v - top)));
      sum = t == DType::bf16 ? through(t, sum + v) : sum + v;  // ONNX's reference adds half floats in single precision
    }
    sum = through(t, sum);
    for (double& v : row) v = through(t, v / sum);
  }

  // Every step rounds to the operands' type, as the operators that Attention stands for would.
  struct Pass {
    const A& a;
    const Sizes& s;
    DType dtype, precision;
    std::vector<double> q, key, value;
    const Bias& bias;
    bool packed;
    std::vector<double> y, shown, row;

    void run(bool wants_scores) {
      y.assign(static_cast<size_t>(element_count(std::vector<int64_t>{s.batch, s.heads, s.length, s.v_size})), 0);
      row.resize(static_cast<size_t>(s.total));
      for (int64_t b = 0; b < s.batch; ++b)
        for (int64_t h = 0; h < s.heads; ++h)
          for (int64_t i = 0; i < s.length; ++i) query(b, h, i, wants_scores);
    }

    void query(int64_t b, int64_t h, int64_t i, bool wants_scores) {
      const int64_t at = packed ? (b * s.length + i) * s.heads + h : (b * s.heads + h) * s.length + i;
      const int64_t kv = (b * s.kv_heads + h / (s.heads / s.kv_heads)) * s.total;
      const auto show = [&](int64_t mode) {
        if (wants_scores && a.qk_matmul_output_mode == mode) shown.insert(shown.end(), row.begin(), row.end());
      };
      for (int64_t j = 0; j < s.total; ++j) {
        double sum = 0;
        for (int64_t d = 0; d < s.size; ++d)
          sum += q[static_cast<size_t>(at * s.size + d)] * key[static_cast<size_t>((kv + j) * s.size + d)];
        row[static_cast<size_t>(j)] = through(dtype, sum);
      }
      show(0);
      if (a.softcap > 0)
        for (double& v : row)
          v = through(dtype, static_cast<double>(a.softcap) * std::tanh(v / static_cast<double>(a.softcap)));
      show(1);
      bool masked = true;
      for (int64_t j = 0; j < s.total; ++j) {
        const double add = bias.at(b, h, i, j);
        const bool never = std::isinf(add) && add < 0;
        double& v = row[static_cast<size_t>(j)];
        v = never ? add : through(dtype, v + add);
        masked = masked && never;
      }
      show(2);
      softmax(row, masked, precision);
      for (double& v : row) v = through(dtype, v);
      show(3);
      for (int64_t j = 0; j < s.total; ++j)
        for (int64_t d = 0; d < s.v_size; ++d)
          y[static_cast<size_t>(at * s.v_size + d)] +=
              row[static_cast<size_t>(j)] * value[static_cast<size_t>((kv + j) * s.v_size + d)];
    }
  };

  static void eval(const A& a, Eval& k) {
    const Tensor& q = k.in(0);
    if ((q.rank() != 3 && q.rank() != 4) || k.in(1).rank() != q.rank() || k.in(2).rank() != q.rank())
      k.fail("eval.shape", "Q, K and V must all have rank 3 or 4");
    const bool packed = q.rank() == 3;
    if (a.qk_matmul_output_mode < 0 || a.qk_matmul_output_mode > 3)
      k.fail("eval.attribute", cat("qk_matmul_output_mode is ", a.qk_matmul_output_mode));
    const int64_t kv_heads = packed ? a.kv_num_heads.value_or(0) : k.in(1).shape()[1];
    if (kv_heads < 1 || (packed && (k.in(1).shape()[2] % kv_heads || k.in(2).shape()[2] % kv_heads)))
      k.fail("eval.shape", cat("kv_num_heads is ", kv_heads));
    const Tensor key = with_past(k, k.in(1), kv_heads, 4), value = with_past(k, k.in(2), kv_heads, 5);
    const Sizes s = sizes_of(a, k, key, value, kv_heads);
    const Bias bias(a, k, s);
    const double root = through(
        q.dtype(), std::sqrt(a.scale ? static_cast<double>(*a.scale) : 1 / std::sqrt(static_cast<double>(s.size))));
    const auto precision = a.softmax_precision ? dtype_from_number(*a.softmax_precision) : std::nullopt;
    Pass pass{a,
              s,
              q.dtype(),
              precision && is_float(*precision) ? *precision : q.dtype(),
              scaled(q, root),
              scaled(key, root),
              value.to_doubles(),
              bias,
              packed,
              {},
              {},
              {}};
    pass.run(k.out_count() > 3);
    k.out(0, store(q.dtype(),
                   packed ? std::vector<int64_t>{s.batch, s.length, s.heads * s.v_size}
                          : std::vector<int64_t>{s.batch, s.heads, s.length, s.v_size},
                   pass.y));
    k.out(1, key);
    k.out(2, value);
    if (k.out_count() > 3) k.out(3, store(q.dtype(), {s.batch, s.heads, s.length, s.total}, pass.shown));
  }

  static constexpr Revision revisions[] = {
      {25, nullptr,
       [](Downgrade& d) {
         d.drop("left_window_size");
         d.drop("right_window_size");
       }},
  };
  static constexpr Expansion expansions[] = {
      expansion<A>(
          25, Exactness::rounding, [](const A& a, Expand& e) { expand_attention(a, e); },
          [](const A& a, const Graph& g, NodeId n, int64_t target) {
            return target < 23 || (target < 24 && g.input(n, 6)) || a.left_window_size >= 0 || a.right_window_size >= 0;
          }),
  };
};

constexpr OpRules table[] = {rules<Attention>()};

}  // namespace

std::span<const OpRules> attention_rules() { return table; }

}  // namespace cameo::ops
