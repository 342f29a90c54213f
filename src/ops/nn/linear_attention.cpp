// LinearAttention: attention without softmax, with a recurrent state.
#include <algorithm>
#include <cmath>

#include "ops/computed.h"
#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/nn/expansions.h"
#include "ops/op_def.h"
#include "ops/preconditions.h"

namespace cameo::ops {

namespace {

struct LinearAttention : Rules<op::LinearAttention> {
  using A = op::LinearAttention;

  static bool gated(const A& a) { return a.update_rule == "gated" || a.update_rule == "gated_delta"; }
  static bool corrects(const A& a) { return a.update_rule == "delta" || a.update_rule == "gated_delta"; }
  static std::string problem(const A& a, bool has_decay, bool has_beta) {
    if (!gated(a) && !corrects(a) && a.update_rule != "linear")
      return cat("update_rule '", a.update_rule, "' is not one of linear, gated, delta, gated_delta");
    if (a.q_num_heads < 1 || a.kv_num_heads < 1 || a.q_num_heads % a.kv_num_heads)
      return cat(a.q_num_heads, " query heads are not a multiple of ", a.kv_num_heads, " key heads");
    if (gated(a) != has_decay)
      return cat("update_rule '", a.update_rule, has_decay ? "' has no decay" : "' needs a decay");
    if (corrects(a) != has_beta)
      return cat("update_rule '", a.update_rule, has_beta ? "' has no beta" : "' needs a beta");
    return "";
  }

  static void infer(const A& a, Infer& c) {
    if (const auto p = problem(a, c.has(4), c.has(5)); !p.empty()) c.fail("infer.attribute", p);
    for (size_t i = 0; i < 3; ++i) {
      want_rank(c, i, 3, cat("input ", i));
      want_share(c, c.dim(i, 2), i ? a.kv_num_heads : a.q_num_heads, cat("the elements a step of input ", i));
      c.same(c.dim(0, 0), c.dim(i, 0), "the batches of query, key and value");
      c.same(c.dim(0, 1), c.dim(i, 1), "the steps of query, key and value");
    }
    const Dim size = floor_div(c.dim(0, 2), a.q_num_heads), v_size = floor_div(c.dim(2, 2), a.kv_num_heads);
    c.same(size * a.kv_num_heads, c.dim(1, 2), "the head sizes of query and key");
    if (c.has(3)) want_shape(c, 3, {c.dim(0, 0), a.kv_num_heads, size, v_size}, "past_state");
    if (c.has(4)) want_per_step(c, 4, {a.kv_num_heads, size * a.kv_num_heads}, "decay");
    if (c.has(5)) want_per_step(c, 5, {a.kv_num_heads, 1}, "beta");
    c.out(0, {c.dim(0, 0), c.dim(0, 1), v_size * a.q_num_heads});
    c.out(1, c.has(3) ? c.dtype(3) : c.dtype(0), {c.dim(0, 0), a.kv_num_heads, size, v_size});
  }

  // [batch, steps, one of these sizes]
  static void want_per_step(Infer& c, size_t input, std::initializer_list<Dim> sizes, std::string_view what) {
    want_rank(c, input, 3, what);
    const Dim last = c.dim(input, 2);
    want_shape(c, input, {c.dim(0, 0), c.dim(0, 1), last}, what);
    if (last.is_literal() &&
        std::none_of(sizes.begin(), sizes.end(), [&](Dim d) { return !d.is_literal() || d == last; }))
      c.fail("infer.mismatch", cat(what, " has ", last.text(), " elements a step"));
  }

  static void eval(const A& a, Eval& k) {
    if (const auto p = problem(a, k.has(4), k.has(5)); !p.empty()) k.fail("eval.attribute", p);
    const Tensor& q = k.in(0);
    if (q.rank() != 3 || k.in(1).rank() != 3 || k.in(2).rank() != 3)
      k.fail("eval.shape", "query, key and value must have rank 3");
    const int64_t batch = q.shape()[0], steps = q.shape()[1], heads = a.kv_num_heads, group = a.q_num_heads / heads;
    const int64_t size = q.shape()[2] / a.q_num_heads, v_size = k.in(2).shape()[2] / heads;
    const std::vector<int64_t> state_shape{batch, heads, size, v_size};
    if (k.in(1).count() != batch * steps * heads * size || k.in(2).count() != batch * steps * heads * v_size ||
        q.shape()[2] != a.q_num_heads * size)
      k.fail("eval.shape", "the shapes of query, key and value do not agree");
    if (k.has(3) && k.in(3).shape() != state_shape) k.fail("eval.shape", "past_state does not suit the heads");
    const int64_t rows = std::max<int64_t>(batch * steps, 1), decays = k.has(4) ? k.in(4).count() / rows : 0,
                  betas = k.has(5) ? k.in(5).count() / rows : 0;
    if ((batch * steps > 0 && k.has(4) && decays != heads && decays != heads * size) ||
        (batch * steps > 0 && k.has(5) && betas != heads && betas != 1))
      k.fail("eval.shape", "decay or beta do not suit the heads");
    const Tensor none = zeros(DType::f32, {0});
    const Loaded<double> qs(q), ks(k.in(1)), vs(k.in(2)), decay(k.has(4) ? k.in(4) : none),
        beta(k.has(5) ? k.in(5) : none);
    std::vector<double> state =
        k.has(3) ? k.in(3).to_doubles() : std::vector<double>(static_cast<size_t>(element_count(state_shape)), 0);
    std::vector<double> y(static_cast<size_t>(element_count(std::vector<int64_t>{batch, steps, a.q_num_heads, v_size})),
                          0);
    const double scale = a.scale != 0 ? static_cast<double>(a.scale) : 1 / std::sqrt(static_cast<double>(size));
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t t = 0; t < steps; ++t)
        for (int64_t h = 0; h < heads; ++h) {
          const int64_t row = b * steps + t;
          double* s = state.data() + (b * heads + h) * size * v_size;
          const double* key = ks.data() + (row * heads + h) * size;
          if (gated(a))
            for (int64_t i = 0; i < size; ++i) {
              const double keep = std::exp(decay[row * decays + (decays == heads ? h : h * size + i)]);
              for (int64_t j = 0; j < v_size; ++j) s[i * v_size + j] *= keep;
            }
          for (int64_t j = 0; j < v_size; ++j) {
            double v = vs[(row * heads + h) * v_size + j];
            if (corrects(a)) {
              for (int64_t i = 0; i < size; ++i) v -= s[i * v_size + j] * key[i];
              v *= beta[row * betas + (betas == 1 ? 0 : h)];
            }
            for (int64_t i = 0; i < size; ++i) s[i * v_size + j] += key[i] * v;
          }
          for (int64_t g = 0; g < group; ++g) {
            const int64_t at = row * a.q_num_heads + h * group + g;
            for (int64_t i = 0; i < size; ++i)
              for (int64_t j = 0; j < v_size; ++j)
                y[static_cast<size_t>(at * v_size + j)] += scale * qs[at * size + i] * s[i * v_size + j];
          }
        }
    k.out(0, store(q.dtype(), {batch, steps, a.q_num_heads * v_size}, y));
    k.out(1, store(k.has(3) ? k.in(3).dtype() : q.dtype(), state_shape, state));
  }

  // A loop over the steps that carries the state [batch, heads, size, v_size].
  static void expand(const A& a, Expand& e) {
    On& on = e.on;
    if (const auto p = problem(a, e.has(4), e.has(5)); !p.empty()) return e.refuse(p);
    if (!ranks_known(e)) return e.refuse("the rank of an operand is unknown");
    const auto packed = e.fact(0).shape()[2].known(), packed_v = e.fact(2).shape()[2].known();
    if (!packed || !packed_v) return e.refuse("the size of a head is not known");
    const int64_t heads = a.kv_num_heads, size = *packed / a.q_num_heads, v_size = *packed_v / heads;
    const DType given = e.has(3) ? e.dtype(3) : e.dtype(0), t = given == DType::f64 ? DType::f64 : DType::f32;
    // Per step and head: a row of the query for each of its heads, a column of the key, a row of the value.
    const auto shaped = [&](size_t i, std::initializer_list<int64_t> sizes) {
      return on.Reshape(on.cast(e.in(i), t), on.ints(sizes));
    };
    const ValueId q = shaped(0, {0, 0, heads, a.q_num_heads / heads, size}), key = shaped(1, {0, 0, heads, size, 1}),
                  value = shaped(2, {0, 0, heads, 1, v_size});
    const ValueId decay = gated(a) ? on.Exp(shaped(4, {0, 0, heads, -1, 1})) : ValueId(),
                  beta = corrects(a) ? shaped(5, {0, 0, -1, 1, 1}) : ValueId();
    const ValueId start =
        e.has(3)
            ? on.cast(e.in(3), t)
            : on.Expand(on.number(0, t), join_sizes(on, {size_of(on, e.in(0), 0), on.ints({heads, size, v_size})}));
    const double scale = a.scale != 0 ? static_cast<double>(a.scale) : 1 / std::sqrt(static_cast<double>(size));
    const auto results = repeat(
        on, size_of(on, e.in(0), 1), {start},
        [&](On& o, ValueId i, const std::vector<ValueId>& carried) {
          const auto at = [&](ValueId v) { return o.Gather(v, i, {.axis = 1}); };
          ValueId state = carried[0], k = at(key), v = at(value);
          if (decay) state = o.Mul(state, at(decay));
          if (beta) v = o.Mul(o.Sub(v, o.MatMul(transpose(o, k, {0, 1, 3, 2}), state)), at(beta));
          state = o.Add(state, o.Mul(k, v));
          return std::vector{state, o.Mul(o.MatMul(at(q), state), o.number(scale, t))};
        },
        1);
    const ValueId y =
        on.Reshape(transpose(on, results[1], {1, 0, 2, 3, 4}), on.ints({0, 0, *packed_v / heads * a.q_num_heads}));
    std::vector<ValueId> out{on.cast(y, e.dtype(0)), on.cast(results[0], given)};
    out.resize(e.outputs());
    e.replace(std::move(out));
  }
  static constexpr Expansion expansions[] = {
      expansion<A>(27, Exactness::rounding, [](const A& a, Expand& e) { expand(a, e); })};
};

constexpr OpRules table[] = {rules<LinearAttention>()};

}  // namespace

std::span<const OpRules> linear_attention_rules() { return table; }

}  // namespace cameo::ops
