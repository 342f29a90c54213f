// torch.nn.functional, Distance functions.
#include <algorithm>

#include "lowering/arithmetic.h"
#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

V cosine_similarity(Lower& on, V a, V b, int64_t dim, double eps) {
  const Dims &sa = on.shape(a), &sb = on.shape(b);
  const int64_t rank = std::max<int64_t>(static_cast<int64_t>(sa.size()), static_cast<int64_t>(sb.size()));
  const Ints axes{dim < 0 ? dim + rank : dim};
  const auto size = [&](V x) { return at_least(on, reduce(on, Reduce::l2, x, axes, true), eps); };
  return reduce(on, Reduce::sum, on.Mul(on.Div(a, size(a)), on.Div(b, size(b))), axes, false);
}

V pair_distances(Lower& on, V x, double p) {
  const int64_t n = known_size(on, x, 0, "pdist");
  constexpr int64_t most = 1 << 13;  // whose pairs a constant holds
  if (n > most) unsupported(cat("distances between ", n, " points"));
  Ints first, second;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = i + 1; k < n; ++k) first.push_back(i), second.push_back(k);
  const V d = on.Sub(on.Gather(x, on.ints(first), {.axis = 0}), on.Gather(x, on.ints(second), {.axis = 0}));
  return vector_norm(on, d, p, {1}, false);
}

constexpr Row table[] = {
    {"aten::pairwise_distance",
     [](Lower& on, V a, V b, double p, double eps, bool keep) {
       const V d = on.Add(on.Sub(a, b), on.number_like(eps, a));
       const Ints axes{on.rank(d) - 1};
       if (p == 2) return reduce(on, Reduce::l2, d, axes, keep);
       if (p == 1) return reduce(on, Reduce::l1, d, axes, keep);
       return V(on.Pow(reduce(on, Reduce::sum, on.Pow(on.Abs(d), on.number_like(p, d)), axes, keep),
                       on.number_like(1 / p, d)));
     },
     promote(0, 1)},
    {"aten::cosine_similarity", fn<cosine_similarity>, promote(0, 1)},
    {"aten::pdist", fn<pair_distances>},
    {"aten::_pdist_forward", fn<pair_distances>},
};

}  // namespace

std::span<const Row> nn_functional_distance_rows() { return table; }

}  // namespace cameo::lowering
