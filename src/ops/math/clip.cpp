// Clip.
#include <cmath>
#include <limits>

#include "ops/families.h"
#include "ops/math/elementwise.h"
#include "ops/math/revisions.h"
#include "ops/on.h"
#include "ops/operands.h"
#include "ops/preconditions.h"

namespace cameo::ops {

namespace {

struct Clip : Rules<op::Clip> {
  static void infer(const op::Clip&, Infer& c) {
    for (size_t i = 1; i < 3; ++i)
      if (c.has(i)) want_one(c, i, i == 1 ? "min" : "max");
    infer_like_first(c);
    clip_contents(c);
  }

  static void clip_contents(Infer& c) {
    auto elements = c.constant(0) || !is_int(c.dtype(0)) ? std::nullopt : c.ints(0);
    for (size_t i = 1; elements && i < 3; ++i) {
      if (!c.has(i)) continue;
      const auto bound = c.ints(i);
      if (!bound || bound->size() != 1) return;
      for (Dim& d : *elements) d = i == 1 ? max(d, bound->front()) : min(d, bound->front());
    }
    if (elements) c.out_contents(0, std::move(*elements));
  }

  static void eval(const op::Clip&, Eval& k) {
    const Tensor& x = k.in(0);
    k.out(0, NumberCarriers::with(x.dtype(), [&](auto c) {
            using C = decltype(c);
            const auto bound = [&](size_t i) -> std::optional<C> {
              if (!k.has(i)) return std::nullopt;
              if (k.in(i).count() != 1) k.fail("eval.input", "a bound of Clip is not a scalar");
              return Loaded<C>(k.in(i))[0];
            };
            const auto low = bound(1), high = bound(2);
            return map_elements<C, C>(x, x.dtype(), [&](C v) {
              if (low && !(v >= *low) && v == v) v = *low;  // NaN stays
              return high && v > *high ? *high : v;
            });
          }));
  }

  static void bounds_to_inputs(Upgrade& u) {
    const DType type = u.fact(u.input(0)).dtype();
    constexpr float most = std::numeric_limits<float>::max();
    const std::optional<float> bounds[] = {u.take_float("min"), u.take_float("max")};
    for (size_t i = 0; i < 2; ++i) {
      if (!bounds[i] || std::fabs(*bounds[i]) >= most) continue;  // the old defaults
      ValueId v = u.constant(full(type == DType::undefined ? DType::f32 : type, {}, static_cast<double>(*bounds[i])));
      if (type == DType::undefined) v = u.on.CastLike(v, u.input(0));
      u.set_input(i + 1, v);
    }
  }

  static constexpr Revision revisions[] = {
      {6, drop_consumed_inputs},
      {11, bounds_to_inputs, [](Downgrade& d) { d.input_to_float(2, "max"), d.input_to_float(1, "min"); }},
  };
  static void by_bounds(Expand& e) {
    ValueId x = e.in(0);
    if (e.has(1)) x = e.on.Max(std::vector{x, e.in(1)});
    if (e.has(2)) x = e.on.Min(std::vector{x, e.in(2)});
    e.replace({x});
  }
  static constexpr Expansion expansions[] = {
      // Integers came with 12, and no float holds all of 64 bits.
      expansion<op::Clip>(
          12, Exactness::exact, [](const op::Clip&, Expand& e) { by_bounds(e); },
          [](const op::Clip&, const Graph& g, NodeId n, int64_t) {
            const DType t = input_fact(g, n, 0).dtype();
            return is_int(t) && bits(t) == 64;
          }),
      // Bounds were attributes before 11.
      expansion<op::Clip>(
          11, Exactness::exact, [](const op::Clip&, Expand& e) { by_bounds(e); },
          [](const op::Clip&, const Graph& g, NodeId n, int64_t) {
            return (g.input(n, 1) && !g.is_constant(g.input(n, 1))) || (g.input(n, 2) && !g.is_constant(g.input(n, 2)));
          }),
  };
};

constexpr OpRules table[] = {rules<Clip>()};

}  // namespace

std::span<const OpRules> clip_rules() { return table; }

}  // namespace cameo::ops
