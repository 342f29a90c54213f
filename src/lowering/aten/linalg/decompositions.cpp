// torch.linalg, Decompositions that are written out for matrices of known, small size: LU with pivots, QR by
// reflections, Cholesky.
#include "lowering/aten/linalg/decompositions.h"

#include <algorithm>

#include "lowering/aten/linalg/matrix.h"
#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

struct Size {
  int64_t rows, columns, least;
};

Size size_of(Lower& on, V a, std::string_view what) {
  on.need_rank(a, 2, what);
  const int64_t m = known_size(on, a, -2, what), n = known_size(on, a, -1, what);
  if (std::min(m, n) > 64) unsupported(cat(what, " of size ", m, " x ", n), "sizes up to 64 are written out");
  return {m, n, std::min(m, n)};
}

V row_numbers(Lower& on, int64_t n) { return on.unsqueeze(iota(on, Dim(n)), {1}); }

V zero(Lower& on, V like) { return on.number_like(0, like); }

V element(Lower& on, V a, int64_t r, int64_t c) {
  return on.slice(on.slice(a, on.rank(a) - 2, Dim(r), Dim(r + 1)), on.rank(a) - 1, Dim(c), Dim(c + 1));
}

V cut(Lower& on, V a, int64_t rows, int64_t columns) {
  return on.slice(on.slice(a, on.rank(a) - 2, Dim(0), Dim(rows)), on.rank(a) - 1, Dim(0), Dim(columns));
}

V triangle(Lower& on, V a, bool upper, int64_t k = 0) { return on.Trilu(a, on.On::int_scalar(k), {.upper = upper}); }

// L below the diagonal, U on and above it; pivots as LAPACK counts them, from 1.
std::tuple<V, V> factored(Lower& on, V a, bool pivot) {
  const Size s = size_of(on, a, "an LU decomposition");
  const int64_t column_axis = on.rank(a) - 1, row_axis = column_axis - 1;
  const V rows = iota(on, Dim(s.rows)), tall = row_numbers(on, s.rows), wide = iota(on, Dim(s.columns));
  Dims lead = without_last(on.shape(a), 2), one = lead;
  one.push_back(Dim(1));
  Vs pivots;
  for (int64_t c = 0; c < s.least; ++c) {
    const V here = on.On::int_scalar(c);
    if (pivot) {
      const V below = on.Abs(on.slice(on.gather_scalar(a, column_axis, Dim(c)), row_axis, Dim(c), Dim(s.rows)));
      const V best = on.Add(on.ArgMax(below, {.axis = row_axis, .keepdims = 1}), here);
      const V order = on.Where(on.Equal(rows, here), best, on.Where(on.Equal(rows, best), here, rows));
      a = on.GatherElements(a, on.expand(on.unsqueeze(order, {column_axis}), on.shape(a)), {.axis = row_axis});
      pivots.push_back(on.to(on.Add(best, on.On::int_scalar(1)), DType::i32));
    } else pivots.push_back(on.full(one, Num(c + 1), DType::i32));
    const V top = element(on, a, c, c), row = on.slice(a, row_axis, Dim(c), Dim(c + 1));
    const V factor = on.Div(on.slice(a, column_axis, Dim(c), Dim(c + 1)),
                            on.Where(on.Equal(top, zero(on, a)), on.number_like(1, a), top));
    const V under = on.Greater(tall, here);
    const V reduced = on.Sub(a, on.Mul(factor, on.Where(on.Greater(wide, here), row, zero(on, a))));
    a = on.Where(under, on.Where(on.Equal(wide, here), factor, reduced), a);
  }
  one.back() = Dim(0);
  return {a, pivots.empty() ? on.full(one, Num(int64_t{0}), DType::i32) : on.concat(pivots, row_axis)};
}

// Where the rows went: column i of P has its one in row order[i].
V permutation(Lower& on, V pivots, int64_t n) {
  on.need_rank(pivots, 1, "LU pivots");
  const int64_t axis = on.rank(pivots) - 1, k = known_size(on, pivots, -1, "LU pivots");
  if (k > n) unsupported(cat(k, " pivots of ", n, " rows"));
  Dims shape = on.shape(pivots);
  shape.back() = Dim(n);
  const V rows = iota(on, Dim(n));
  V order = on.expand(rows, shape);
  for (int64_t i = 0; i < k; ++i) {
    const V other = on.Sub(on.to(on.slice(pivots, axis, Dim(i), Dim(i + 1)), DType::i64), on.On::int_scalar(1));
    const V mine = on.slice(order, axis, Dim(i), Dim(i + 1)), theirs = on.GatherElements(order, other, {.axis = axis});
    order = on.Where(on.Equal(rows, on.On::int_scalar(i)), theirs, on.Where(on.Equal(rows, other), mine, order));
  }
  return on.Equal(row_numbers(on, n), on.unsqueeze(order, {axis}));
}

V lower_factor(Lower& on, V lu, const Size& s) {
  const V l = triangle(on, cut(on, lu, s.rows, s.least), false, -1);
  return on.Add(l, identity(on, l));
}

V upper_factor(Lower& on, V lu, const Size& s) { return triangle(on, cut(on, lu, s.least, s.columns), true); }

std::tuple<V, V, V> decomposed(Lower& on, V a, bool pivot) {
  const auto parts = factored(on, a, pivot);
  return lu_unpacked(on, std::get<0>(parts), std::get<1>(parts), true, pivot);
}

std::tuple<V, V, V> factored_with_info(Lower& on, V a, bool pivot) {
  const auto parts = factored(on, a, pivot);
  return {std::get<0>(parts), std::get<1>(parts), no_fault(on, a)};
}

// Householder reflections, LAPACK's signs: R on and above the diagonal, the vectors below it.
std::tuple<V, V> reflected(Lower& on, V a) {
  const Size s = size_of(on, a, "a QR decomposition");
  const int64_t column_axis = on.rank(a) - 1, row_axis = column_axis - 1;
  const V tall = row_numbers(on, s.rows), wide = iota(on, Dim(s.columns)), one = on.number_like(1, a);
  Vs taus;
  for (int64_t c = 0; c < s.least; ++c) {
    const V here = on.On::int_scalar(c), column = on.slice(a, column_axis, Dim(c), Dim(c + 1)),
            alpha = element(on, a, c, c);
    const V below = on.Where(on.Greater(tall, here), column, zero(on, a));
    const V rest = reduce(on, Reduce::sum_square, below, {row_axis}, true), trivial = on.Equal(rest, zero(on, a));
    const V size = on.Sqrt(on.Add(rest, on.Mul(alpha, alpha)));
    const V beta = on.Where(trivial, alpha, on.Where(on.Less(alpha, zero(on, a)), size, on.Neg(size)));
    const V tau = on.Where(trivial, zero(on, a), on.Div(on.Sub(beta, alpha), on.Where(trivial, one, beta)));
    const V v = on.Where(on.Equal(tall, here), one, on.Div(below, on.Where(trivial, one, on.Sub(alpha, beta))));
    const V changed = on.Sub(a, on.Mul(tau, on.MatMul(v, on.MatMul(swap_last(on, v), a))));
    const V stored = on.Where(on.Equal(tall, here), beta, v);
    const V own = on.And(on.Equal(wide, here), on.GreaterOrEqual(tall, here));
    const V later = on.And(on.Greater(wide, here), on.GreaterOrEqual(tall, here));
    a = on.Where(own, stored, on.Where(later, changed, a));
    taus.push_back(on.squeeze(tau, {column_axis}));
  }
  Dims none = without_last(on.shape(a), 2);
  none.push_back(Dim(0));
  return {a, taus.empty() ? on.full(none, Num(0.0), on.dtype(a)) : on.concat(taus, row_axis)};
}

std::tuple<V, V> qr(Lower& on, V a, const Str& mode) {
  const Size s = size_of(on, a, "a QR decomposition");
  const auto parts = reflected(on, a);
  const V packed = std::get<0>(parts);
  const int64_t kept = mode == "complete" ? s.rows : s.least;
  const V r = triangle(on, cut(on, packed, kept, s.columns), true);
  if (mode == "r") return {on.full({Dim(0)}, Num(0.0), on.dtype(a)), r};
  return {householder_product(on, packed, std::get<1>(parts), kept), r};
}

V multiplied(Lower& on, V vectors, V taus, V other, bool left, bool transposed) {
  V q = householder_product(on, vectors, taus, known_size(on, vectors, -2, "ormqr"));
  if (transposed) q = swap_last(on, q);
  return left ? on.MatMul(q, other) : on.MatMul(other, q);
}

// Column by column: what is left of the matrix loses the outer product of each new column.
V cholesky(Lower& on, V a, bool upper) {
  const int64_t n = known_size(on, a, -1, "a Cholesky factor"), column_axis = on.rank(a) - 1;
  if (n > 64) unsupported(cat("a Cholesky factor of size ", n), "sizes up to 64 are written out");
  const V rows = on.unsqueeze(iota(on, Dim(n)), {1});
  Vs columns;
  for (int64_t c = 0; c < n; ++c) {
    const V column = on.slice(a, column_axis, Dim(c), Dim(c + 1));
    const V root = on.Sqrt(on.slice(column, column_axis - 1, Dim(c), Dim(c + 1)));
    columns.push_back(on.Where(on.Less(rows, on.On::int_scalar(c)), on.number_like(0, a), on.Div(column, root)));
    if (c + 1 < n) a = on.Sub(a, on.MatMul(columns.back(), swap_last(on, columns.back())));
  }
  if (columns.empty()) return a;
  const V lower = on.concat(columns, column_axis);
  return upper ? swap_last(on, lower) : lower;
}

constexpr Row table[] = {
    {"aten::linalg_lu_factor", fn<factored>},
    {"aten::linalg_lu_factor_ex", fn<factored_with_info>},
    {"aten::_lu_with_info", fn<factored_with_info>},
    {"aten::linalg_lu", fn<decomposed>},
    {"aten::lu_unpack", fn<lu_unpacked>},
    {"aten::geqrf", fn<reflected>},
    {"aten::linalg_qr", fn<qr>},
    {"aten::qr", [](Lower& on, V a, bool some) { return qr(on, a, some ? "reduced" : "complete"); }},
    {"aten::linalg_cholesky", fn<cholesky>},
    {"aten::cholesky", fn<cholesky>},
    {"aten::linalg_cholesky_ex",
     [](Lower& on, V a, bool upper) {
       return std::tuple<V, V>{cholesky(on, a, upper), no_fault(on, a)};
     }},
    {"aten::ormqr", fn<multiplied>},
};

}  // namespace

std::tuple<V, V, V> lu_unpacked(Lower& on, V lu, V pivots, bool data, bool places) {
  const Size s = size_of(on, lu, "an LU decomposition");
  const V none = on.full({Dim(0)}, Num(0.0), on.dtype(lu));
  return {places ? on.to(permutation(on, pivots, s.rows), on.dtype(lu)) : none, data ? lower_factor(on, lu, s) : none,
          data ? upper_factor(on, lu, s) : none};
}

V householder_product(Lower& on, V vectors, V taus, int64_t columns) {
  const int64_t m = known_size(on, vectors, -2, "a product of reflections"),
                k = known_size(on, taus, -1, "a product of reflections"), axis = on.rank(vectors) - 1;
  const V tall = row_numbers(on, m), one = on.number_like(1, vectors);
  Dims shape = without_last(on.shape(vectors), 2);
  shape.insert(shape.end(), {Dim(m), Dim(columns)});
  V q = identity(on, on.full(shape, Num(0.0), on.dtype(vectors)));
  for (int64_t i = k; i-- > 0;) {
    const V column = on.slice(vectors, axis, Dim(i), Dim(i + 1)), here = on.On::int_scalar(i);
    const V v = on.Where(on.Less(tall, here), zero(on, vectors), on.Where(on.Equal(tall, here), one, column));
    const V tau = on.unsqueeze(on.slice(taus, axis - 1, Dim(i), Dim(i + 1)), {axis});
    q = on.Sub(q, on.Mul(tau, on.MatMul(v, on.MatMul(swap_last(on, v), q))));
  }
  return q;
}

std::span<const Row> linalg_decompositions_rows() { return table; }

}  // namespace cameo::lowering
