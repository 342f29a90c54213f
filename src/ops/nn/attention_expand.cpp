#include "ops/nn/attention_expand.h"

#include <cmath>
#include <limits>

#include "kernels/carrier.h"
#include "ops/nn/expansions.h"

namespace cameo::ops {

namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

// The size of an axis as a 0-d int64 value.
ValueId size_of(On& on, ValueId v, int64_t axis) {
  if (const auto d = on.shape(v)[static_cast<size_t>(axis)].known()) return on.int_scalar(*d);
  return on.Gather(on.Shape(v), on.int_scalar(axis));
}

// [batch, length, heads * size] as [batch, heads, length, size].
ValueId split_heads(On& on, ValueId v, int64_t heads) {
  return transpose(on, reshape_to(on, v, {0, 0, heads, -1}), {0, 2, 1, 3});
}

// Every head `times` times in a row.
ValueId repeat_heads(On& on, ValueId v, int64_t heads, int64_t times) {
  if (times == 1) return v;
  const ValueId wide = on.Expand(unsqueeze(on, v, {2}), on.ints({1, 1, times, 1, 1}));
  if (const auto size = on.shape(v)[3].known()) {
    const ValueId shape = on.ints({0, heads * times, -1, *size});
    return on.Reshape(wide, shape);
  }
  const ValueId shape = on.Shape(v), batch = slice_axis(on, shape, 0, 0, 1), rest = slice_axis(on, shape, 0, 2, 4);
  return on.Reshape(wide, concat_values(on, {batch, on.ints({heads * times}), rest}, 0));
}

// The same where only a run knows how many heads the queries have, and how many `v` has.
ValueId repeat_heads_as(On& on, ValueId v, ValueId queries) {
  const ValueId shape = on.Shape(v), heads = slice_axis(on, on.Shape(queries), 0, 1, 2);
  const ValueId times = on.Div(heads, slice_axis(on, shape, 0, 1, 2)), ones = on.ints({1, 1});
  const ValueId wide = on.Expand(unsqueeze(on, v, {2}), concat_values(on, {ones, times, ones}, 0));
  const ValueId batch = slice_axis(on, shape, 0, 0, 1), rest = slice_axis(on, shape, 0, 2, 4);
  return on.Reshape(wide, concat_values(on, {batch, heads, rest}, 0));
}

class Expander {
 public:
  Expander(const op::Attention& a, Expand& e) : a_(a), e_(e), on_(e.on), dtype_(e.dtype(0)) {}

  void run() {
    if (!ranks_known(e_)) return e_.refuse("the rank of an operand is unknown");
    const bool packed = e_.fact(0).rank() == 3;
    const auto heads = packed ? a_.q_num_heads : e_.fact(0).shape()[1].known(),
               kv_heads = packed ? a_.kv_num_heads : e_.fact(1).shape()[1].known();
    if ((packed && (!heads || !kv_heads)) || (kv_heads && *kv_heads < 1))
      return e_.refuse("the number of heads is unknown");
    q_ = packed ? split_heads(on_, e_.in(0), *heads) : e_.in(0);
    key_ = with_past(packed ? split_heads(on_, e_.in(1), *kv_heads) : e_.in(1), 4);
    value_ = with_past(packed ? split_heads(on_, e_.in(2), *kv_heads) : e_.in(2), 5);
    if (!scale()) return;
    const auto repeated = [&](ValueId v) {
      if (heads && kv_heads) return repeat_heads(on_, v, *kv_heads, *heads / *kv_heads);
      return one_for_each_ || kv_heads == 1 ? v : repeat_heads_as(on_, v, q_);
    };
    one_for_each_ = !packed && e_.graph.facts.equal(e_.fact(0).shape()[1], e_.fact(1).shape()[1]) == Answer::yes;
    const ValueId wide_key = repeated(key_), wide_value = repeated(value_);
    const ValueId left = on_.Mul(q_, root_), right = on_.Mul(transpose(on_, wide_key, {0, 1, 3, 2}), root_);
    ValueId scores = on_.MatMul(left, right), shown = scores;
    if (a_.softcap > 0) {
      const ValueId cap = on_.number(static_cast<double>(a_.softcap), dtype_);
      scores = on_.Mul(on_.Tanh(on_.Div(scores, cap)), cap);
      if (a_.qk_matmul_output_mode == 1) shown = scores;
    }
    add_bias();
    if (bias_) scores = on_.Add(scores, bias_);
    if (a_.qk_matmul_output_mode == 2) shown = scores;
    const auto precision = a_.softmax_precision ? dtype_from_number(*a_.softmax_precision) : std::nullopt;
    ValueId probabilities = on_.cast(on_.Softmax(on_.cast(scores, precision.value_or(dtype_)), {.axis = -1}), dtype_);
    if (may_mask_all_) {
      // A query that may see no key at all gives zeros, not NaN.
      const ValueId top = on_.ReduceMax(bias_, on_.ints({-1}));
      const ValueId nothing = on_.Less(top, on_.number(-largest_finite(dtype_), dtype_));
      probabilities = on_.Where(nothing, on_.number(0, dtype_), probabilities);
    }
    if (a_.qk_matmul_output_mode == 3) shown = probabilities;
    ValueId y = on_.MatMul(probabilities, wide_value);
    if (packed) y = reshape_to(on_, transpose(on_, y, {0, 2, 1, 3}), {0, 0, -1});
    std::vector<ValueId> out{y, key_, value_, shown};
    out.resize(e_.outputs());
    e_.replace(std::move(out));
  }

 private:
  ValueId with_past(ValueId v, size_t past) { return e_.has(past) ? concat_values(on_, {e_.in(past), v}, 2) : v; }

  bool scale() {
    const auto size = on_.shape(q_)[3].known();
    if (a_.scale) root_ = on_.number(std::sqrt(static_cast<double>(*a_.scale)), dtype_);
    else if (size) root_ = on_.number(1 / std::sqrt(std::sqrt(static_cast<double>(*size))), dtype_);
    else {
      const ValueId wide = on_.Sqrt(on_.Sqrt(on_.cast(size_of(on_, q_, 3), DType::f32)));
      root_ = on_.cast(on_.Reciprocal(wide), dtype_);
    }
    return true;
  }

  void add(ValueId part) { bias_ = bias_ ? on_.Add(bias_, part) : part; }
  // 0 where allowed, minus infinity elsewhere.
  ValueId selected(ValueId allowed) {
    const ValueId zero = on_.number(0, dtype_), never = on_.number(minus_infinity, dtype_);
    return on_.Where(allowed, zero, never);
  }

  ValueId count_to(ValueId n) {
    const ValueId zero = on_.int_scalar(0), one = on_.int_scalar(1);
    return on_.Range(zero, n, one);
  }

  void add_bias() {
    const bool windowed = a_.left_window_size >= 0 || a_.right_window_size >= 0;
    may_mask_all_ = e_.has(3) || e_.has(6) || windowed;
    if (e_.has(3)) add(mask());
    if (!a_.is_causal && !windowed && !e_.has(6)) return;
    const ValueId total = size_of(on_, key_, 2), keys = count_to(total);
    if (a_.is_causal || windowed) {
      // Queries count from the end of what came before: [length, 1], or [batch, 1, length, 1] with padded caches.
      const ValueId length = size_of(on_, q_, 2);
      ValueId queries = unsqueeze(on_, count_to(length), {1});
      if (e_.has(4)) queries = on_.Add(queries, size_of(on_, e_.in(4), 2));
      else if (e_.has(6)) queries = on_.Add(queries, reshape_to(on_, on_.Sub(e_.in(6), length), {-1, 1, 1, 1}));
      if (a_.is_causal) add(selected(on_.Not(on_.Greater(keys, queries))));
      if (a_.left_window_size >= 0)
        add(selected(on_.Not(on_.Less(keys, on_.Sub(queries, on_.int_scalar(a_.left_window_size))))));
      if (a_.right_window_size >= 0)
        add(selected(on_.Not(on_.Greater(keys, on_.Add(queries, on_.int_scalar(a_.right_window_size))))));
    }
    if (e_.has(6)) add(selected(on_.Less(keys, reshape_to(on_, e_.in(6), {-1, 1, 1, 1}))));
  }

  // The mask as numbers of the scores' type, its last axis filled up.
  ValueId mask() {
    const ValueId given = e_.in(3);
    ValueId m = on_.dtype(given) == DType::boolean ? selected(given) : on_.cast(given, dtype_);
    const Dim have = on_.shape(given).back(), want = on_.shape(key_)[2];
    if (have == want) return m;
    const ValueId want_size = size_of(on_, key_, 2), have_size = size_of(on_, given, on_.rank(given) - 1);
    const ValueId missing = reshape_to(on_, on_.Sub(want_size, have_size), {1});
    const ValueId before = on_.constant(zeros(DType::i64, {2 * on_.rank(given) - 1}));
    return on_.Pad(m, concat_values(on_, {before, missing}, 0), on_.number(minus_infinity, dtype_));
  }

  const op::Attention& a_;
  Expand& e_;
  On& on_;
  DType dtype_;
  ValueId q_, key_, value_, root_, bias_;
  bool may_mask_all_ = false, one_for_each_ = false;  // one_for_each_: as many heads of keys as of queries
};

}  // namespace

void expand_attention(const op::Attention& a, Expand& e) { Expander(a, e).run(); }

void expand_rotary(const op::RotaryEmbedding& a, Expand& e) {
  On& on = e.on;
  if (!ranks_known(e)) return e.refuse("the rank of an operand is unknown");
  const bool packed = e.fact(0).rank() == 3;
  if (packed && a.num_heads.value_or(0) < 1) return e.refuse("the number of heads is unknown");
  // [batch, length, heads, size]
  const ValueId x = packed ? reshape_to(on, e.in(0), {0, 0, *a.num_heads, -1}) : transpose(on, e.in(0), {0, 2, 1, 3});
  const auto size = on.shape(x)[3].known();
  const int64_t rotated = a.rotary_embedding_dim ? a.rotary_embedding_dim : size.value_or(0);
  if (!rotated) return e.refuse("the head size is unknown");
  const bool whole = size == rotated;
  const auto angle = [&](size_t i) {
    const ValueId cache = e.has(3) ? on.Gather(e.in(i), e.in(3)) : e.in(i);
    return unsqueeze(on, cache, {2});
  };
  const ValueId cos = angle(1), sin = angle(2), part = whole ? x : slice_axis(on, x, 3, 0, rotated);
  ValueId first, second;
  if (a.interleaved) {
    const ValueId pairs = reshape_to(on, part, {0, 0, 0, rotated / 2, 2});
    first = squeeze(on, slice_axis(on, pairs, 4, 0, 1), {4}), second = squeeze(on, slice_axis(on, pairs, 4, 1, 2), {4});
  } else first = slice_axis(on, part, 3, 0, rotated / 2), second = slice_axis(on, part, 3, rotated / 2, rotated);
  const ValueId cos_first = on.Mul(cos, first), sin_second = on.Mul(sin, second), sin_first = on.Mul(sin, first),
                cos_second = on.Mul(cos, second);
  const ValueId real = on.Sub(cos_first, sin_second), imaginary = on.Add(sin_first, cos_second);
  ValueId y;
  if (a.interleaved) {
    const ValueId real_last = unsqueeze(on, real, {4}), imaginary_last = unsqueeze(on, imaginary, {4});
    y = reshape_to(on, concat_values(on, {real_last, imaginary_last}, 4), {0, 0, 0, rotated});
  } else y = concat_values(on, {real, imaginary}, 3);
  if (!whole) y = concat_values(on, {y, slice_axis(on, x, 3, rotated, std::numeric_limits<int64_t>::max())}, 3);
  e.replace({packed ? reshape_to(on, y, {0, 0, -1}) : transpose(on, y, {0, 2, 1, 3})});
}

}  // namespace cameo::ops
