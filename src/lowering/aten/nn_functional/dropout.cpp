// torch.nn.functional, Dropout functions.
#include <cmath>

#include "lowering/aten/torch/random_sampling.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

V dropout(Lower& on, V x, double p, bool train) {
  if (train && p > 0) return on.Dropout(x, 1, on.number(p, DType::f32), on.constant(Tensor::bool_scalar(true)))[0];
  return x;
}

// Dropout of whole channels, or the one that keeps mean and variance of what SELU gives (its dropped values are not 0).
template <bool channels, bool selu>
V masked_dropout(Lower& on, V x, double p, bool train) {
  if (!train || p == 0) return x;
  if (p == 1) return on.Mul(x, on.number_like(0, x));
  Dims sizes = on.shape(x);
  if (channels && sizes.size() < 2) unsupported("dropout of channels of a tensor that has none");
  for (size_t i = 2; channels && i < sizes.size(); ++i) sizes[i] = Dim(1);
  const V kept = coin(on, on.full(sizes, Num(1 - p), DType::f32), on.dtype(x));
  if (!selu) return on.Mul(x, on.Mul(kept, on.number_like(1 / (1 - p), x)));
  constexpr double alpha = 1.7580993408473766;
  const double a = 1 / std::sqrt((alpha * alpha * p + 1) * (1 - p));
  const V shift = on.Add(on.Mul(kept, on.number_like(alpha * a, x)), on.number_like(alpha * a * (p - 1), x));
  return on.Add(on.Mul(x, on.Mul(kept, on.number_like(a, x))), shift);
}

// With the mask of what was kept; torch means training where it does not say.
std::tuple<V, V> dropout_and_mask(Lower& on, V x, double p, Opt<bool> train) {
  if (!train.value_or(true) || p == 0) return {x, on.full(on.shape(x), Num(Arg(true)), DType::boolean)};
  const V kept = coin(on, on.full(on.shape(x), Num(1 - p), DType::f32), on.dtype(x));
  return {on.Mul(x, p == 1 ? kept : V(on.Mul(kept, on.number_like(1 / (1 - p), x)))), on.to(kept, DType::boolean)};
}

constexpr Row table[] = {
    {"aten::dropout", fn<dropout>},
    {"aten::native_dropout", fn<dropout_and_mask>},
    {"aten::native_dropout_backward",
     [](Lower& on, V g, V mask, double scale) {
       return V(on.Mul(on.Mul(g, on.to(mask, on.dtype(g))), on.number_like(scale, g)));
     }},
    {"aten::feature_dropout", fn<masked_dropout<true, false>>},
    {"aten::alpha_dropout", fn<masked_dropout<false, true>>},
    {"aten::feature_alpha_dropout", fn<masked_dropout<true, true>>},
};

}  // namespace

std::span<const Row> nn_functional_dropout_rows() { return table; }

}  // namespace cameo::lowering
