// torch.linalg, Matrix Functions: powers and exponentials.
#include "lowering/aten/linalg/matrix.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

// Taylor's series of a small multiple, squared until it is the whole.
V exponential(Lower& on, V a) {
  if (element_count(on.shape(a)).is(0)) return a;
  constexpr int squarings = 8, terms = 10;
  const V x = on.Mul(a, on.number_like(std::ldexp(1.0, -squarings), a)), one = identity(on, a);
  V y = one;
  for (int k = terms; k > 0; --k) y = on.Add(one, on.Mul(on.MatMul(x, y), on.number_like(1.0 / k, a)));
  for (int i = 0; i < squarings; ++i) y = on.MatMul(y, y);
  return y;
}

V matrix_power(Lower& on, V x, int64_t n) {
  if (n < 0) x = inverted(on, x), n = -n;
  Opt<V> y;
  for (; n > 0; n /= 2) {
    if (n % 2) y = y ? V(on.MatMul(*y, x)) : x;
    if (n > 1) x = on.MatMul(x, x);
  }
  return y ? *y : identity(on, x);
}

constexpr Row table[] = {
    {"aten::linalg_matrix_exp", fn<exponential>},
    {"aten::matrix_exp", fn<exponential>},
    {"aten::linalg_matrix_power", fn<matrix_power>},
    {"aten::matrix_power", fn<matrix_power>},
};

}  // namespace

std::span<const Row> linalg_matrix_functions_rows() { return table; }

}  // namespace cameo::lowering
