// Random tensors. They are recorded, never folded, merged or hoisted.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "ops/families.h"
#include "ops/math/dice.h"
#include "ops/math/elementwise.h"
#include "ops/on.h"
#include "support/budget.h"

namespace cameo::ops {

namespace {

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

constexpr OpRules table[] = {rules<Shaped<op::RandomNormal>>(),
                             rules<Shaped<op::RandomUniform>>(),
                             rules<Like<op::RandomNormalLike>>(),
                             rules<Like<op::RandomUniformLike>>(),
                             rules<Bernoulli>(),
                             rules<Multinomial>()};

}  // namespace

std::span<const OpRules> random_rules() { return table; }

}  // namespace cameo::ops
