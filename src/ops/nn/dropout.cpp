// Dropout. In training it draws random numbers and is never folded, merged or hoisted.
#include "ops/families.h"
#include "ops/math/dice.h"
#include "ops/math/elementwise.h"
#include "ops/math/revisions.h"
#include "ops/on.h"
#include "ops/preconditions.h"

namespace cameo::ops {

namespace {

struct Dropout : Rules<op::Dropout> {
  static constexpr bool deterministic = false;
  static void infer(const op::Dropout&, Infer& c) {
    for (size_t i = 1; i < 3; ++i)
      if (c.has(i)) want_one(c, i, i == 1 ? "ratio" : "training_mode");
    c.out(0, c.shape(0));
    c.out(1, DType::boolean, c.shape(0));
  }

  static void eval(const op::Dropout& a, Eval& k) {
    const Tensor& x = k.in(0);
    const bool training = k.has(2) && k.int_scalar(2) != 0;
    const double ratio = k.has(1) ? k.double_scalar(1) : 0.5;
    std::vector<uint8_t> mask(static_cast<size_t>(x.count()), 1);
    if (training && ratio > 0) {
      Dice dice(a.seed, k);
      for (auto& m : mask) m = dice.uniform() >= ratio;
      const Loaded<double> in(x);
      std::vector<double> out(mask.size());
      for (size_t i = 0; i < out.size(); ++i) out[i] = mask[i] ? in.span()[i] / (1 - ratio) : 0;
      k.out(0, store(x.dtype(), x.shape(), out));
    } else {
      k.out(0, x);
    }
    k.out(1, store(DType::boolean, x.shape(), mask));
  }

  static void drop_test_mode(Upgrade& u) { u.drop("is_test"); }  // a model that is run is in test mode
  // Before 10 the mask had the type of the data.
  static void cast_mask(Upgrade& u) {
    if (u.outputs < 2) return;
    const float ratio = u.take_float("ratio").value_or(0.5f);
    const auto both = u.on.Dropout(u.input(0), 2, u.constant(Tensor::float_scalar(ratio)));
    u.replace({both[0], u.on.CastLike(both[1], u.input(0))});
  }
  static void say_ratio(Downgrade& d) {
    if (d.outputs > 1) return d.refuse("the mask of a dropout that does not train was left open there");
    const auto training = d.constant(2);
    if (training && training->int_at(0)) d.refuse("a dropout that trains");
    d.set_input(2, {});
    d.trim_inputs();
    d.drop("seed");
    d.input_to_float(1, "ratio");
  }
  static constexpr Revision revisions[] = {
      {6, drop_consumed_inputs},
      {7, drop_test_mode, [](Downgrade& d) { d.set("is_test", int64_t{1}); }},
      {10, cast_mask,
       [](Downgrade& d) {
         if (d.outputs > 1) d.refuse("a mask of type bool");
       }},
      {12, [](Upgrade& u) { u.attr_to_input("ratio", 1); }, say_ratio},
  };

  static bool trains(const Graph& g, NodeId n) {
    const auto training = g.input(n, 2) ? g.constant(g.input(n, 2)) : Tensor::bool_scalar(false);
    return !training || training->int_at(0);
  }
  // The mask written out; without training it is all true.
  static void expand_mask(const op::Dropout& a, Expand& e) {
    On& on = e.on;
    const ValueId x = e.in(0), always = on.ConstantOfShape(
                                   on.Shape(x), op::ConstantOfShape{.value = Tensor::bool_scalar(true).reshaped({1})});
    std::vector<ValueId> out{x, always};
    if (trains(e.graph, e.node)) {
      const DType t = DType::f32;
      ValueId ratio = e.has(1) ? on.cast(e.in(1), t) : on.number(0.5, t);
      ratio = on.Where(e.in(2), ratio, on.number(0, t));
      op::RandomUniformLike uniform{.dtype = static_cast<int64_t>(t)};
      if (a.seed) uniform.seed = static_cast<float>(*a.seed);
      out[1] = on.Not(on.Less(on.RandomUniformLike(x, uniform), ratio));
      out[0] =
          on.Where(out[1], on.Div(x, on.cast(on.Sub(on.number(1, t), ratio), e.dtype(0))), on.number(0, e.dtype(0)));
    }
    out.resize(e.outputs());
    e.replace(std::move(out));
  }
  static constexpr Expansion expansions[] = {expansion<op::Dropout>(
      12, Exactness::rounding, [](const op::Dropout& a, Expand& e) { expand_mask(a, e); },
      [](const op::Dropout&, const Graph& g, NodeId n, int64_t) {
        return g[n].outputs.size() > 1 || trains(g, n) || (g.input(n, 1) && !g.is_constant(g.input(n, 1)));
      })};
};

constexpr OpRules table[] = {rules<Dropout>()};

}  // namespace

std::span<const OpRules> dropout_rules() { return table; }

}  // namespace cameo::ops
