// torch.linalg, Matrix Products, and what torch.linalg lists under Misc.
#include <algorithm>

#include "lowering/aten/linalg/decompositions.h"
#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

V cross(Lower& on, V a, V b, int64_t axis) {
  const auto turned = [&](V x, std::initializer_list<int64_t> order) {
    return on.Gather(x, on.ints(order), {.axis = axis - std::max(on.rank(a), on.rank(b)) + on.rank(x)});
  };
  return on.Sub(on.Mul(turned(a, {1, 2, 0}), turned(b, {2, 0, 1})), on.Mul(turned(a, {2, 0, 1}), turned(b, {1, 2, 0})));
}

int64_t first_of_three(Lower& on, V x, const Opt<int64_t>& dim) {
  if (dim) return on.axis(x, *dim);
  for (const int64_t i : on.all_axes(x))
    if (on.dim(x, i).is(3)) return i;
  unsupported("cross without an axis known to have size 3", "pass dim");
}

constexpr Row table[] = {
    {"aten::linalg_vecdot",
     [](Lower& on, V a, V b, int64_t dim) {
       const V p = on.Mul(a, b);
       return reduce(on, Reduce::sum, p, {on.axis(p, dim)}, false);
     },
     promote(0, 1)},
    {"aten::linalg_multi_dot",
     [](Lower& on, Vs parts) {
       V y = parts[0];
       for (size_t i = 1; i < parts.size(); ++i) y = on.MatMul(y, parts[i]);
       return y;
     }},
    {"aten::linalg_vander",
     [](Lower& on, V x, Opt<Dim> n) {
       if (!on.is_float(x)) x = on.to(x, DType::i64);
       if (on.rank(x) == 0) x = flat(on, x);
       return V(on.Pow(on.unsqueeze(x, {on.rank(x)}), on.to(iota(on, n.value_or(on.dim(x, -1))), on.dtype(x))));
     }},
    {"aten::linalg_cross",
     [](Lower& on, V a, V b, int64_t dim) { return cross(on, a, b, on.axis(on.rank(a) >= on.rank(b) ? a : b, dim)); },
     promote(0, 1)},
    {"aten::linalg_householder_product",
     [](Lower& on, V a, V taus) {
       return householder_product(on, a, taus, known_size(on, a, -1, "a product of reflections"));
     }},
    {"aten::cross", [](Lower& on, V a, V b, Opt<int64_t> dim) { return cross(on, a, b, first_of_three(on, a, dim)); },
     promote(0, 1)},
};

}  // namespace

std::span<const Row> linalg_products_rows() { return table; }

}  // namespace cameo::lowering
