// Random tensors. They are recorded, never folded, merged or hoisted.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <random>

#include "ops/families.h"
#include "ops/math/elementwise.h"
#include "ops/math/revisions.h"
#include "ops/on.h"
#include "ops/preconditions.h"
#include "support/budget.h"

namespace cameo::ops {

namespace {

// The standard fixes this engine's numbers on every platform, and its doubles below are the ones numpy's seed gives.
class Dice {
 public:
  template <class Seed>
  Dice(const std::optional<Seed>& given, Eval& k)
      : engine_(given ? number(*given) : static_cast<uint32_t>(k.seed ? k.seed() >> 32 : 0)) {}

  double uniform() {  // in [0, 1), 53 random bits
    const uint32_t high = next() >> 5, low = next() >> 6;
    return (high * 67108864.0 + low) / 9007199254740992.0;
  }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  uint32_t next() { return static_cast<uint32_t>(engine_()); }
  static uint32_t number(int64_t seed) { return static_cast<uint32_t>(seed); }
  static uint32_t number(float seed) {
    return std::fabs(seed) < 9e18f ? static_cast<uint32_t>(static_cast<int64_t>(seed)) : 0;
  }
  std::mt19937 engine_;
};

constexpr int64_t most_elements = int64_t{1} << 31;

DType element_type(const std::optional<int64_t>& given, DType like) {
  return given ? dtype_from_number(*given).value_or(DType::undefined) : like;
}

DType checked(const Infer& c, DType t) {
  if (!is_float(t) && !is_int(t) && t != DType::boolean) c.fail("infer.attribute", "dtype is not a type of numbers");
  return t;
}

template <class Roll>
Tensor rolled(DType type, const std::vector<int64_t>& shape, Roll roll) {
  const int64_t count = element_count(shape);
  if (count > most_elements) Eval::fail("eval.size", cat("a random tensor of ", count, " elements is too large"));
  constexpr int64_t block = int64_t{1} << 16;  // numbers, not all at once: they are wider than most results
  std::vector<double> some(static_cast<size_t>(std::min(count, block)));
  const size_t unit = static_cast<size_t>(packed_bytes(type, block)) / block;
  if (unit == 0 || count <= block) {
    some.resize(static_cast<size_t>(count));
    for (double& v : some) v = roll();
    return store(type, shape, some);
  }
  std::vector<std::byte> bytes(static_cast<size_t>(packed_bytes(type, count)));
  for (int64_t done = 0; done < count; done += block) {
    checkpoint();
    some.resize(static_cast<size_t>(std::min(block, count - done)));
    for (double& v : some) v = roll();
    const Tensor part = store(type, {static_cast<int64_t>(some.size())}, some);
    std::memcpy(bytes.data() + static_cast<size_t>(done) * unit, part.bytes().data(), some.size() * unit);
  }
  return {type, shape, Bytes::own(std::move(bytes))};
}

template <class Attrs>
double draw(const Attrs& a, Dice& dice) {
  if constexpr (requires { a.mean; }) return static_cast<double>(a.mean) + static_cast<double>(a.scale) * dice.normal();
  else return static_cast<double>(a.low) + (static_cast<double>(a.high) - static_cast<double>(a.low)) * dice.uniform();
}

// RandomNormal and RandomUniform.
template <class Attrs>
struct Shaped : Rules<Attrs> {
  static constexpr bool deterministic = false;
  static void infer(const Attrs& a, Infer& c) {
    Shape shape;
    for (const int64_t d : a.shape) {
      if (d < 0) c.fail("infer.attribute", cat("shape holds ", d));
      shape.emplace_back(d);
    }
    c.out(0, checked(c, element_type(a.dtype, DType::f32)), std::move(shape));
  }
  static void eval(const Attrs& a, Eval& k) {
    Dice dice(a.seed, k);
    k.out(0, rolled(element_type(a.dtype, DType::f32), a.shape, [&] { return draw(a, dice); }));
  }
};

// RandomNormalLike and RandomUniformLike.
template <class Attrs>
struct Like : Rules<Attrs> {
  static constexpr bool deterministic = false;
  static void infer(const Attrs& a, Infer& c) { c.out(0, checked(c, element_type(a.dtype, c.dtype(0))), c.shape(0)); }
  static void eval(const Attrs& a, Eval& k) {
    Dice dice(a.seed, k);
    k.out(0, rolled(element_type(a.dtype, k.in(0).dtype()), k.in(0).shape(), [&] { return draw(a, dice); }));
  }
};

struct Bernoulli : Rules<op::Bernoulli> {
  static constexpr bool deterministic = false;
  static void infer(const op::Bernoulli& a, Infer& c) {
    c.out(0, checked(c, element_type(a.dtype, c.dtype(0))), c.shape(0));
  }
  static void eval(const op::Bernoulli& a, Eval& k) {
    Dice dice(a.seed, k);
    const Loaded<double> chance(k.in(0));
    int64_t i = 0;
    k.out(0, rolled(element_type(a.dtype, k.in(0).dtype()), k.in(0).shape(),
                    [&] { return dice.uniform() < chance[i++] ? 1.0 : 0.0; }));
  }
  static constexpr Expansion expansions[] = {
      expansion<op::Bernoulli>(15, Exactness::exact, [](const op::Bernoulli& a, Expand& e) {
        On& on = e.on;
        const DType to = element_type(a.dtype, e.dtype(0));
        if (to == DType::undefined) return e.refuse("the element type is not known");
        const ValueId rolls = on.RandomUniformLike(
            e.in(0), op::RandomUniformLike{.dtype = static_cast<int64_t>(e.dtype(0)), .seed = a.seed});
        e.replace({on.cast(on.Less(rolls, e.in(0)), to)});
      })};
};

struct Multinomial : Rules<op::Multinomial> {
  static constexpr bool deterministic = false;
  static void infer(const op::Multinomial& a, Infer& c) {
    if (c.rank(0) != 2) c.fail("infer.rank", cat("the input has rank ", c.rank(0), ", [batch, classes] has 2"));
    if (a.sample_size < 0) c.fail("infer.attribute", cat("sample_size is ", a.sample_size));
    if (c.dim(0, 1).is(0)) c.fail("infer.shape", "there are no classes to draw from");
    c.out(0, checked(c, element_type(a.dtype, DType::i32)), {c.dim(0, 0), Dim(a.sample_size)});
  }
  // The input holds logarithms of weights that need not add up to one.
  static void eval(const op::Multinomial& a, Eval& k) {
    const Tensor& x = k.in(0);
    if (x.rank() != 2 || x.shape()[1] == 0) k.fail("eval.shape", "Multinomial needs [batch, classes]");
    Dice dice(a.seed, k);
    const Loaded<double> logs(x);
    const int64_t classes = x.shape()[1];
    std::vector<double> sums(static_cast<size_t>(classes));
    int64_t sample = 0;
    k.out(0, rolled(element_type(a.dtype, DType::i32), {x.shape()[0], a.sample_size}, [&] {
            if (sample++ % a.sample_size == 0) accumulate(logs, (sample - 1) / a.sample_size * classes, sums);
            const auto it = std::upper_bound(sums.begin(), sums.end(), dice.uniform() * sums.back());
            return static_cast<double>(std::min<int64_t>(it - sums.begin(), classes - 1));
          }));
  }
  static void accumulate(const Loaded<double>& logs, int64_t first, std::vector<double>& sums) {
    double most = -std::numeric_limits<double>::infinity(), sum = 0;
    for (size_t i = 0; i < sums.size(); ++i) most = std::max(most, logs[first + static_cast<int64_t>(i)]);
    for (size_t i = 0; i < sums.size(); ++i) sums[i] = sum += std::exp(logs[first + static_cast<int64_t>(i)] - most);
  }
};

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

constexpr OpRules table[] = {
    rules<Shaped<op::RandomNormal>>(),
    rules<Shaped<op::RandomUniform>>(),
    rules<Like<op::RandomNormalLike>>(),
    rules<Like<op::RandomUniformLike>>(),
    rules<Bernoulli>(),
    rules<Multinomial>(),
    rules<Dropout>(),
};

}  // namespace

std::span<const OpRules> random_rules() { return table; }

}  // namespace cameo::ops
