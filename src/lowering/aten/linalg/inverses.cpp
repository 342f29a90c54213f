// torch.linalg, Inverses; Tensor Operations.
#include "lowering/aten/linalg/matrix.h"
#include "lowering/aten/linalg/spectrum.h"
#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

V tensor_inverse(Lower& on, V x, int64_t ind) {
  const Dims s = on.shape(x);
  if (ind <= 0 || ind >= on.rank(x)) unsupported(cat("an inverse over ", ind, " of ", s.size(), " axes"));
  const Dims head(s.begin(), s.begin() + ind), tail(s.begin() + ind, s.end());
  Dims out = tail;
  out.insert(out.end(), head.begin(), head.end());
  return on.reshape(inverted(on, on.reshape(x, {element_count(head), element_count(tail)})), out);
}

V tensor_solve(Lower& on, V a, V b, Opt<Ints> dims) {
  if (dims) {
    Ints to;
    for (size_t i = 0; i < dims->size(); ++i) to.push_back(on.rank(a) - static_cast<int64_t>(dims->size() - i));
    a = moved(on, a, *dims, to);
  }
  on.need_rank(a, on.rank(b), "a tensor equation");
  const Dims out(on.shape(a).begin() + on.rank(b), on.shape(a).end());
  const Dim n = element_count(on.shape(b));
  return on.reshape(solved(on, on.reshape(a, {n, element_count(out)}), on.reshape(b, {n, Dim(1)})), out);
}

constexpr Row table[] = {
    {"aten::linalg_pinv",
     [](Lower& on, V a, double rcond, bool h) { return pseudo_inverse(on, a, {}, staged_number(on, rcond), h); }},
    {"aten::linalg_pinv.atol_rtol_float",
     [](Lower& on, V a, Opt<double> atol, Opt<double> rtol, bool h) {
       return pseudo_inverse(on, a, staged_number(on, atol), staged_number(on, rtol), h);
     }},
    {"aten::linalg_pinv.atol_rtol_tensor",
     [](Lower& on, V a, Opt<V> atol, Opt<V> rtol, bool h) { return pseudo_inverse(on, a, atol, rtol, h); }},
    {"aten::pinverse",
     [](Lower& on, V a, double rcond) { return pseudo_inverse(on, a, {}, staged_number(on, rcond)); }},
    {"aten::linalg_inv", fn<inverted>},
    {"aten::inverse", fn<inverted>},
    {"aten::linalg_inv_ex",
     [](Lower& on, V a) {
       return std::tuple<V, V>{inverted(on, a), no_fault(on, a)};
     }},
    {"aten::cholesky_inverse",
     [](Lower& on, V l, bool upper) { return inverted(on, on.dim(l, -1).is(0) ? l : from_factor(on, l, upper)); }},
    {"aten::linalg_tensorinv", fn<tensor_inverse>},
    {"aten::linalg_tensorsolve", fn<tensor_solve>},
};

}  // namespace

std::span<const Row> linalg_inverses_rows() { return table; }

}  // namespace cameo::lowering
