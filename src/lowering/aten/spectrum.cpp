// Eigenvalues of symmetric matrices and singular values, for matrices of known, small size: Jacobi's rotations in a
// Loop, in double. What they decide is unique: norms, ranks, pseudo-inverses, least squares. Vectors have no sign, so
// that eigh and svd themselves stay out.
#include <algorithm>
#include <cmath>

#include "lowering/forms.h"
#include "lowering/loop.h"
#include "lowering/matrix.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

constexpr int64_t sweeps = 10;

struct Spectrum {
  V values, vectors;  // in no order; double
};

V column(Lower& on, V rows, V at) { return on.unsqueeze(on.to(on.Equal(rows, at), DType::f64), {1}); }

Spectrum spectrum_of(Lower& on, V a) {
  const int64_t n = known_size(on, a, -1, "eigenvalues"), last = on.rank(a) - 1;
  if (n > 64) unsupported(cat("eigenvalues of a matrix of size ", n), "sizes up to 64 are written out");
  a = on.to(a, DType::f64);
  const V one = on.number(1, DType::f64), zero = on.number(0, DType::f64), two = on.number(2, DType::f64),
          unit = identity(on, a);
  Ints pairs;
  for (int64_t p = 0; p < n; ++p)
    for (int64_t q = p + 1; q < n; ++q) pairs.push_back(p), pairs.push_back(q);
  const auto count = static_cast<int64_t>(pairs.size() / 2);
  if (count == 0) return {on.squeeze(a, {last}), unit};
  const V table = on.reshape(on.ints(pairs), {Dim(count), Dim(2)}), rows = iota(on, Dim(n));
  const Vs end = loop(on, on.On::int_scalar(sweeps * count), {a, unit}, [&](V turn, const Vs& s) -> Vs {
    const V pair = on.Gather(table, on.Mod(turn, on.On::int_scalar(count)), {.axis = 0}),
            p = on.gather_scalar(pair, 0, Dim(0)), q = on.gather_scalar(pair, 0, Dim(1));
    const V row = on.Gather(s[0], p, {.axis = last - 1}), pp = on.Gather(row, p, {.axis = last - 1}),
            pq = on.Gather(row, q, {.axis = last - 1});
    const V qq = on.Gather(on.Gather(s[0], q, {.axis = last - 1}), q, {.axis = last - 1});
    const V done = on.Equal(pq, zero), theta = on.Div(on.Sub(qq, pp), on.Mul(two, on.Where(done, one, pq)));
    const V size = on.Reciprocal(on.Add(on.Abs(theta), on.Sqrt(on.Add(on.Mul(theta, theta), one))));
    const V tangent = on.Where(done, zero, on.Where(on.Less(theta, zero), on.Neg(size), size));
    const V cosine = on.Reciprocal(on.Sqrt(on.Add(on.Mul(tangent, tangent), one))), sine = on.Mul(tangent, cosine);
    const auto wide = [&](V v) { return on.unsqueeze(v, {last - 1, last}); };
    const V ep = column(on, rows, p), eq = column(on, rows, q), tp = on.transpose(ep, {1, 0}),
            tq = on.transpose(eq, {1, 0});
    const V plane = on.Add(on.Mul(ep, tp), on.Mul(eq, tq)), turned = on.Sub(on.Mul(ep, tq), on.Mul(eq, tp));
    const V rotation = on.Add(unit, on.Add(on.Mul(wide(on.Sub(cosine, one)), plane), on.Mul(wide(sine), turned)));
    return {on.MatMul(swap_last(on, rotation), on.MatMul(s[0], rotation)), on.MatMul(s[1], rotation)};
  });
  return {reduce(on, Reduce::sum, on.Mul(end[0], unit), {last}, false), end[1]};
}

V doubles(Lower& on, V a) { return on.to(a, DType::f64); }
V sorted(Lower& on, V values, bool descending) {
  const int64_t axis = on.rank(values) - 1;
  return on.TopK(values, on.int_vector(Dims{on.dim(values, axis)}), 2, {.axis = axis, .largest = descending})[0];
}
V symmetric(Lower& on, V a, bool upper) {
  const V half = on.Trilu(a, {}, {.upper = upper}),
          rest = on.Trilu(a, on.On::int_scalar(upper ? 1 : -1), {.upper = upper});
  return on.Add(half, swap_last(on, rest));
}
V eigenvalues(Lower& on, V a, Str half) {
  if (on.dim(a, -1).is(0)) return on.full(without_last(on.shape(a), 1), Num(0.0), on.dtype(a));
  return on.to(sorted(on, spectrum_of(on, symmetric(on, a, half == "U")).values, false), on.dtype(a));
}

bool tall(Lower& on, V a) {
  return known_size(on, a, -2, "singular values") >= known_size(on, a, -1, "singular values");
}
// a'a or aa', whichever is smaller: its eigenvalues are the squares.
V gram(Lower& on, V a) {
  const V t = swap_last(on, a);
  return tall(on, a) ? on.MatMul(t, a) : on.MatMul(a, t);
}

V epsilon(Lower& on, V a) {
  return on.number(on.dtype(a) == DType::f64 ? 2.220446049250313e-16 : 1.1920928955078125e-07, DType::f64);
}
// Singular values that do not count: at most the larger of atol and rtol times the largest one.
V threshold(Lower& on, V a, V largest, const Opt<V>& atol, const Opt<V>& rtol) {
  const double size = static_cast<double>(std::max(known_size(on, a, -2, "a rank"), known_size(on, a, -1, "a rank")));
  V relative = rtol ? on.to(*rtol, DType::f64) : V(on.Mul(epsilon(on, a), on.number(size, DType::f64)));
  if (!rtol && atol)
    relative =
        on.Where(on.Greater(on.to(*atol, DType::f64), on.number(0, DType::f64)), on.number(0, DType::f64), relative);
  const V scaled = on.Mul(relative, largest);
  return atol ? V(on.Max(std::vector<ValueId>{scaled, on.to(*atol, DType::f64)})) : scaled;
}
V largest_of(Lower& on, V values) { return reduce(on, Reduce::max, values, {on.rank(values) - 1}, false); }

V values_in_double(Lower& on, V a) {
  const V squares = spectrum_of(on, gram(on, doubles(on, a))).values;
  return on.Sqrt(on.Max(std::vector<ValueId>{squares, on.number(0, DType::f64)}));
}
bool empty(Lower& on, V a) { return element_count(on.shape(a)).is(0); }

V rank_of(Lower& on, V a, const Opt<V>& atol, const Opt<V>& rtol, bool hermitian = false) {
  if (empty(on, a)) return on.full(without_last(on.shape(a), 2), Num(int64_t{0}), DType::i64);
  const V s = hermitian ? V(on.Abs(spectrum_of(on, symmetric(on, doubles(on, a), false)).values))
                        : values_in_double(on, a),
          limit = threshold(on, a, largest_of(on, s), atol, rtol);
  return reduce(on, Reduce::sum, on.to(on.Greater(s, on.unsqueeze(limit, {on.rank(limit)})), DType::i64),
                {on.rank(s) - 1}, false);
}
Opt<V> staged(Lower& on, const Opt<double>& v) { return v ? Opt<V>(on.number(*v, DType::f64)) : std::nullopt; }

// V diag(1 / values) V', without what does not count.
V rebuilt(Lower& on, const Spectrum& s, V values, V limit, V inverted) {
  const V counts = on.Greater(values, on.unsqueeze(limit, {on.rank(limit)})), one = on.number(1, DType::f64);
  const V inverse = on.Where(counts, on.Div(one, on.Where(counts, inverted, one)), on.number(0, DType::f64));
  return on.MatMul(on.Mul(s.vectors, on.unsqueeze(inverse, {on.rank(inverse) - 1})), swap_last(on, s.vectors));
}
V pseudo_inverse(Lower& on, V a, const Opt<V>& atol, const Opt<V>& rtol, bool hermitian = false) {
  if (empty(on, a)) return swap_last(on, a);
  if (hermitian) {
    const Spectrum s = spectrum_of(on, symmetric(on, doubles(on, a), false));
    const V sizes = on.Abs(s.values);
    return on.to(rebuilt(on, s, sizes, threshold(on, a, largest_of(on, sizes), atol, rtol), s.values), on.dtype(a));
  }
  const V d = doubles(on, a), t = swap_last(on, d);
  const Spectrum s = spectrum_of(on, gram(on, d));
  const V squares = on.Max(std::vector<ValueId>{s.values, on.number(0, DType::f64)}), values = on.Sqrt(squares);
  const V limit = threshold(on, a, largest_of(on, values), atol, rtol);
  const V middle = rebuilt(on, s, values, limit, squares);
  return on.to(tall(on, a) ? on.MatMul(middle, t) : on.MatMul(t, middle), on.dtype(a));
}

using Fit = std::tuple<V, V, V, V>;
Fit least_squares(Lower& on, V a, V b, Opt<double> rcond, Opt<Str> driver) {
  const bool vector = on.rank(b) == 1 || on.rank(b) < on.rank(a);
  if (vector) b = on.unsqueeze(b, {on.rank(b)});
  const V x = on.MatMul(pseudo_inverse(on, a, {}, staged(on, rcond)), b);
  const int64_t m = known_size(on, a, -2, "lstsq"), n = known_size(on, a, -1, "lstsq");
  const V none = on.full({Dim(0)}, Num(0.0), on.dtype(a)), miss = on.Sub(on.MatMul(a, x), b);
  const V residuals = m > n ? reduce(on, Reduce::sum_square, miss, {on.rank(miss) - 2}, false) : none;
  const Str how = driver.value_or("gelsy");
  return {vector ? on.squeeze(x, {on.rank(x) - 1}) : x, residuals,
          how == "gels" ? on.full({Dim(0)}, Num(int64_t{0}), DType::i64) : rank_of(on, a, {}, staged(on, rcond)),
          how == "gelsd" || how == "gelss" ? singular_values(on, a) : none};
}

V condition(Lower& on, V a, Opt<double> p) {
  const V s = values_in_double(on, a);
  const int64_t axis = on.rank(s) - 1;
  if (p && std::abs(*p) != 2) unsupported("a condition number of another norm than 2 and -2");
  const V high = reduce(on, Reduce::max, s, {axis}, false), low = reduce(on, Reduce::min, s, {axis}, false);
  return on.to(p.value_or(2) > 0 ? on.Div(high, low) : on.Div(low, high), on.dtype(a));
}

constexpr Row table[] = {
    {"aten::linalg_eigvalsh", fn<eigenvalues>},
    {"aten::_linalg_svd",
     [](Lower& on, V a, bool, bool vectors) {
       if (vectors) unsupported("singular vectors");
       const V none = on.full({Dim(0)}, Num(0.0), on.dtype(a));
       return std::tuple<V, V, V>{none, singular_values(on, a), none};
     }},
    {"aten::linalg_svdvals", [](Lower& on, V a) { return singular_values(on, a); }},
    {"aten::linalg_cond", fn<condition>},
    {"aten::linalg_matrix_rank",
     [](Lower& on, V a, double tol, bool h) { return rank_of(on, a, staged(on, tol), staged(on, 0.0), h); }},
    {"aten::linalg_matrix_rank.atol_rtol_float",
     [](Lower& on, V a, Opt<double> atol, Opt<double> rtol, bool h) {
       return rank_of(on, a, staged(on, atol), staged(on, rtol), h);
     }},
    {"aten::linalg_matrix_rank.atol_rtol_tensor",
     [](Lower& on, V a, Opt<V> atol, Opt<V> rtol, bool h) { return rank_of(on, a, atol, rtol, h); }},
    {"aten::linalg_pinv",
     [](Lower& on, V a, double rcond, bool h) { return pseudo_inverse(on, a, {}, staged(on, rcond), h); }},
    {"aten::linalg_pinv.atol_rtol_float",
     [](Lower& on, V a, Opt<double> atol, Opt<double> rtol, bool h) {
       return pseudo_inverse(on, a, staged(on, atol), staged(on, rtol), h);
     }},
    {"aten::linalg_pinv.atol_rtol_tensor",
     [](Lower& on, V a, Opt<V> atol, Opt<V> rtol, bool h) { return pseudo_inverse(on, a, atol, rtol, h); }},
    {"aten::pinverse", [](Lower& on, V a, double rcond) { return pseudo_inverse(on, a, {}, staged(on, rcond)); }},
    {"aten::linalg_lstsq", fn<least_squares>},
};

}  // namespace

V singular_values(Lower& on, V a) {
  if (empty(on, a)) {
    Dims none = without_last(on.shape(a), 2);
    none.push_back(Dim(std::min(known_size(on, a, -2, "singular values"), known_size(on, a, -1, "singular values"))));
    return on.full(none, Num(0.0), on.dtype(a));
  }
  return on.to(sorted(on, values_in_double(on, a), true), on.dtype(a));
}

std::span<const Row> spectrum_rows() { return table; }

}  // namespace cameo::lowering
