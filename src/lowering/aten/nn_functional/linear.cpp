// torch.nn.functional, Linear functions.
#include "lowering/aten/linalg/matrix.h"
#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

// y[b,k] = sum over i, j of x[b,i] w[k,i,j] z[b,j]
V bilinear(Lower& on, V x, V z, V w, Opt<V> bias) {
  Dims out = without_last(on.shape(x), 1);
  const Dim batch = element_count(out), i = on.dim(w, 1), j = on.dim(w, 2), k = on.dim(w, 0);
  const V left = on.MatMul(on.reshape(x, {batch, i}), on.reshape(on.transpose(w, {1, 0, 2}), {i, k * j}));
  const V y = on.MatMul(on.reshape(left, {batch, k, j}), on.reshape(z, {batch, j, Dim(1)}));
  out.push_back(k);
  const V shaped = on.reshape(y, out);
  return bias ? V(on.Add(shaped, *bias)) : shaped;
}

constexpr Row table[] = {
    {"aten::linear", [](Lower& on, V x, V w, Opt<V> b) { return linear(on, x, w, b); }},
    {"aten::bilinear", fn<bilinear>},
};

}  // namespace

std::span<const Row> nn_functional_linear_rows() { return table; }

}  // namespace cameo::lowering
