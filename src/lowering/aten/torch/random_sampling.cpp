// torch, Random Sampling: the same distributions, drawn anew by the runtime. Nothing can give torch's own numbers.
#include "lowering/aten/torch/random_sampling.h"

#include <numbers>

#include "lowering/aten/special/series.h"
#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

DType drawn_type(DType t) { return t == DType::f64 || t == DType::f16 ? t : DType::f32; }

void note_random(Lower& on) {
  on.note("lower.random",
          "random numbers are drawn by the runtime: other ones than PyTorch's, and new ones in every run");
}

V uniform(Lower& on, Dims sizes, DType t, double low = 0, double high = 1) {
  note_random(on);
  const DType d = drawn_type(t);
  const V like = on.full(sizes, Num(0.0), d);
  const V y = on.RandomUniformLike(
      like, {.dtype = static_cast<int64_t>(d), .high = static_cast<float>(high), .low = static_cast<float>(low)});
  return on.to(y, t);
}

V gaussian(Lower& on, Dims sizes, DType t, double mean = 0, double spread = 1) {
  note_random(on);
  const DType d = drawn_type(t);
  const V like = on.full(sizes, Num(0.0), d);
  return on.to(on.RandomNormalLike(like, {.dtype = static_cast<int64_t>(d),
                                          .mean = static_cast<float>(mean),
                                          .scale = static_cast<float>(spread)}),
               t);
}

// Never zero, so that it has a logarithm.
V open_uniform(Lower& on, V x) { return uniform(on, on.shape(x), drawn_type(on.dtype(x)), 1e-7, 1); }

V whole_numbers(Lower& on, Dims sizes, const V low, const V high, DType t) {
  const V u = uniform(on, sizes, DType::f32), from = on.to(low, DType::f32);
  return on.to(on.Floor(on.Add(on.Mul(u, on.Sub(on.to(high, DType::f32), from)), from)), t);
}

V numbers_below(Lower& on, Dim high, Dims sizes, DType t) {
  return whole_numbers(on, sizes, on.On::int_scalar(0), on.int_scalar(high), t);
}

V normal_around(Lower& on, V mean, V spread) {
  const Dims shape = broadcast_shapes(on.shape(mean), on.shape(spread));
  return on.Add(mean, on.Mul(spread, gaussian(on, shape, on.dtype(mean))));
}

// The k best of log p plus Gumbel noise are k draws without replacement; one draw has none to replace.
V multinomial(Lower& on, V p, Dim count, bool replacement) {
  const V weights = on.Log(p);
  if (replacement && !count.is(1)) {
    if (!count.is_literal()) unsupported("multinomial with a number of samples that depends on the inputs");
    note_random(on);
    const V rows = on.rank(p) == 1 ? on.unsqueeze(weights, {0}) : weights;
    const V y = on.Multinomial(rows, {.dtype = static_cast<int64_t>(DType::i64), .sample_size = count.literal()});
    return on.rank(p) == 1 ? on.squeeze(y, {0}) : y;
  }
  const V noise = on.Neg(on.Log(on.Neg(on.Log(uniform(on, on.shape(p), drawn_type(on.dtype(p)), 1e-7, 0.9999999)))));
  return on.TopK(on.Add(weights, on.to(noise, on.dtype(p))), on.int_vector(Dims{count}), 2,
                 {.axis = on.rank(p) - 1})[1];
}

V permutation(Lower& on, Dim n, Opt<DType> t) {
  const V order = on.TopK(uniform(on, {n}, DType::f32), on.int_vector(Dims{n}), 2, {.axis = 0})[1];
  return on.to(order, t.value_or(DType::i64));
}

constexpr Row table[] = {
    {"aten::rand", [](Lower& on, Dims s, Opt<DType> t) { return uniform(on, s, t.value_or(default_float)); }},
    {"aten::rand.generator",
     [](Lower& on, Dims s, Arg, Opt<DType> t) { return uniform(on, s, t.value_or(default_float)); }},
    {"aten::rand_like", [](Lower& on, V x, Opt<DType> t) { return uniform(on, on.shape(x), t.value_or(on.dtype(x))); }},
    {"aten::randn", [](Lower& on, Dims s, Opt<DType> t) { return gaussian(on, s, t.value_or(default_float)); }},
    {"aten::randn.generator",
     [](Lower& on, Dims s, Arg, Opt<DType> t) { return gaussian(on, s, t.value_or(default_float)); }},
    {"aten::randn_like",
     [](Lower& on, V x, Opt<DType> t) { return gaussian(on, on.shape(x), t.value_or(on.dtype(x))); }},
    {"aten::randint",
     [](Lower& on, Dim high, Dims s, Opt<DType> t) { return numbers_below(on, high, s, t.value_or(DType::i64)); }},
    {"aten::randint.low",
     [](Lower& on, Dim low, Dim high, Dims s, Opt<DType> t) {
       return whole_numbers(on, s, on.int_scalar(low), on.int_scalar(high), t.value_or(DType::i64));
     }},
    {"aten::randint_like", [](Lower& on, V x, Dim high,
                              Opt<DType> t) { return numbers_below(on, high, on.shape(x), t.value_or(on.dtype(x))); }},
    {"aten::randint_like.low_dtype",
     [](Lower& on, V x, Dim low, Dim high, Opt<DType> t) {
       return whole_numbers(on, on.shape(x), on.int_scalar(low), on.int_scalar(high), t.value_or(on.dtype(x)));
     }},
    {"aten::randint_like.Tensor",
     [](Lower& on, V x, V high, Opt<DType> t) {
       return whole_numbers(on, on.shape(x), on.On::int_scalar(0), high, t.value_or(on.dtype(x)));
     }},
    {"aten::randperm", fn<permutation>},
    {"aten::normal.Tensor_Tensor", fn<normal_around>},
    {"aten::normal.Tensor_float",
     [](Lower& on, V mean, double spread) { return normal_around(on, mean, on.number_like(spread, mean)); }},
    {"aten::normal.float_Tensor",
     [](Lower& on, double mean, V spread) { return normal_around(on, on.number_like(mean, spread), spread); }},
    {"aten::normal.float_float", [](Lower& on, double mean, double spread, Dims s, Arg,
                                    Opt<DType> t) { return gaussian(on, s, t.value_or(default_float), mean, spread); }},
    {"aten::normal_",
     [](Lower& on, V x, double mean, double spread) { return gaussian(on, on.shape(x), on.dtype(x), mean, spread); }},
    {"aten::normal_functional",
     [](Lower& on, V x, double mean, double spread) { return gaussian(on, on.shape(x), on.dtype(x), mean, spread); }},
    {"aten::uniform",
     [](Lower& on, V x, double low, double high) { return uniform(on, on.shape(x), on.dtype(x), low, high); }},
    {"aten::exponential",
     [](Lower& on, V x, double rate) {
       return on.to(on.Mul(on.Log(open_uniform(on, x)), on.number(-1 / rate, drawn_type(on.dtype(x)))), on.dtype(x));
     }},
    {"aten::log_normal", [](Lower& on, V x, double mean,
                            double spread) { return V(on.Exp(gaussian(on, on.shape(x), on.dtype(x), mean, spread))); }},
    {"aten::cauchy",
     [](Lower& on, V x, double median, double sigma) {
       const V u = uniform(on, on.shape(x), drawn_type(on.dtype(x)), -std::numbers::pi / 2, std::numbers::pi / 2);
       return on.to(on.Add(on.Mul(on.Tan(u), on.number_like(sigma, u)), on.number_like(median, u)), on.dtype(x));
     }},
    {"aten::geometric",
     [](Lower& on, V x, double p) {
       const V u = open_uniform(on, x);
       return on.to(on.Ceil(on.Div(on.Log(u), on.number_like(std::log1p(-p), u))), on.dtype(x));
     }},
    {"aten::bernoulli", [](Lower& on, V p) { return coin(on, p, on.dtype(p)); }},
    {"aten::bernoulli.p",
     [](Lower& on, V x, double p) { return coin(on, on.full(on.shape(x), Num(p), DType::f32), on.dtype(x)); }},
    {"aten::bernoulli.Tensor", [](Lower& on, V x, V p) { return coin(on, on.expand(p, on.shape(x)), on.dtype(x)); }},
    {"aten::bernoulli_.float",
     [](Lower& on, V x, double p) { return coin(on, on.full(on.shape(x), Num(p), DType::f32), on.dtype(x)); }},
    {"aten::multinomial", fn<multinomial>},
};

}  // namespace

V coin(Lower& on, V p, DType t) {
  note_random(on);
  return on.Bernoulli(p, {.dtype = static_cast<int64_t>(t)});
}

std::span<const Row> torch_random_sampling_rows() { return table; }

}  // namespace cameo::lowering
