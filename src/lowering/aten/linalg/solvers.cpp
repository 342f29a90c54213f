// torch.linalg, Solvers: systems of equations of known size, least squares.
#include "lowering/aten/linalg/decompositions.h"
#include "lowering/aten/linalg/matrix.h"
#include "lowering/aten/linalg/spectrum.h"
#include "lowering/call_row.h"
#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

V solve_factored(Lower& on, V lu, V pivots, V b, bool left, bool adjoint) {
  const auto parts = lu_unpacked(on, lu, pivots, true, true);
  V a = on.MatMul(std::get<0>(parts), on.MatMul(std::get<1>(parts), std::get<2>(parts)));
  if (adjoint) a = swap_last(on, a);
  return left ? solved(on, a, b) : swap_last(on, solved(on, swap_last(on, a), swap_last(on, b)));
}

V solve(Lower& on, V a, V b, bool left) {
  const bool vector =
      on.rank(b) == 1 || (on.rank(b) == on.rank(a) - 1 && Dims(on.shape(b)) == without_last(on.shape(a), 1));
  if (vector) b = on.unsqueeze(b, {on.rank(b)});
  const V x = left ? solved(on, a, b) : swap_last(on, solved(on, swap_last(on, a), swap_last(on, b)));
  return vector ? on.squeeze(x, {on.rank(x) - 1}) : x;
}

V triangle_of(Lower& on, V a, bool upper, bool unit) {
  a = on.Trilu(a, {}, {.upper = upper});
  return unit ? V(on.Where(on.to(identity(on, a), DType::boolean), on.number_like(1, a), a)) : a;
}

V triangular(Lower& on, V a, V b, bool upper, bool left, bool unit) {
  return solve(on, triangle_of(on, a, upper, unit), b, left);
}

using Fit = std::tuple<V, V, V, V>;

Fit least_squares(Lower& on, V a, V b, Opt<double> rcond, Opt<Str> driver) {
  const bool vector = on.rank(b) == 1 || on.rank(b) < on.rank(a);
  if (vector) b = on.unsqueeze(b, {on.rank(b)});
  const V x = on.MatMul(pseudo_inverse(on, a, {}, staged_number(on, rcond)), b);
  const int64_t m = known_size(on, a, -2, "lstsq"), n = known_size(on, a, -1, "lstsq");
  const V none = on.full({Dim(0)}, Num(0.0), on.dtype(a)), miss = on.Sub(on.MatMul(a, x), b);
  const V residuals = m > n ? reduce(on, Reduce::sum_square, miss, {on.rank(miss) - 2}, false) : none;
  const Str how = driver.value_or("gelsy");
  return {
      vector ? on.squeeze(x, {on.rank(x) - 1}) : x, residuals,
      how == "gels" ? on.full({Dim(0)}, Num(int64_t{0}), DType::i64) : matrix_rank(on, a, {}, staged_number(on, rcond)),
      how == "gelsd" || how == "gelss" ? singular_values(on, a) : none};
}

constexpr Row table[] = {
    {"aten::linalg_solve", fn<solve>},
    {"aten::linalg_solve_ex",
     [](Lower& on, V a, V b, bool left) {
       return std::tuple<V, V>{solve(on, a, b, left), no_fault(on, a)};
     }},
    {"aten::_linalg_solve_ex",
     [](Lower& on, V a, V b, bool left) {
       const auto r = call_row(on, "aten::linalg_lu_factor", {Arg(a), Arg(true)}),
                  s = call_row(on, "aten::linalg_solve_ex", {Arg(a), Arg(b), Arg(left), Arg(false)});
       return std::tuple<V, V, V, V>{result(s, 0), result(r, 0), result(r, 1), result(s, 1)};
     }},
    {"aten::linalg_solve_triangular", fn<triangular>},
    {"aten::triangular_solve",
     [](Lower& on, V b, V a, bool upper, bool transposed, bool unit) {
       const V t = triangle_of(on, a, upper, unit);
       return std::tuple<V, V>{solve(on, transposed ? swap_last(on, t) : t, b, true), a};
     }},
    {"aten::linalg_lu_solve", fn<solve_factored>},
    {"aten::lu_solve", [](Lower& on, V b, V lu, V pivots) { return solve_factored(on, lu, pivots, b, true, false); }},
    {"aten::cholesky_solve",
     [](Lower& on, V b, V l, bool upper) {
       return on.dim(l, -1).is(0) ? b : solved(on, from_factor(on, l, upper), b);
     }},
    {"aten::linalg_lstsq", fn<least_squares>},
};

}  // namespace

std::span<const Row> linalg_solvers_rows() { return table; }

}  // namespace cameo::lowering
