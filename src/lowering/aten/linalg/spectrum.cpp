#include "lowering/aten/linalg/spectrum.h"

#include <algorithm>

#include "lowering/aten/linalg/matrix.h"
#include "lowering/forms.h"
#include "lowering/loop.h"

namespace cameo::lowering {

namespace {

constexpr int64_t sweeps = 10;

V column(Lower& on, V rows, V at) { return on.unsqueeze(on.to(on.Equal(rows, at), DType::f64), {1}); }

V doubles(Lower& on, V a) { return on.to(a, DType::f64); }

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

bool empty(Lower& on, V a) { return element_count(on.shape(a)).is(0); }

// V diag(1 / values) V', without what does not count.
V rebuilt(Lower& on, const Spectrum& s, V values, V limit, V inverted) {
  const V counts = on.Greater(values, on.unsqueeze(limit, {on.rank(limit)})), one = on.number(1, DType::f64);
  const V inverse = on.Where(counts, on.Div(one, on.Where(counts, inverted, one)), on.number(0, DType::f64));
  return on.MatMul(on.Mul(s.vectors, on.unsqueeze(inverse, {on.rank(inverse) - 1})), swap_last(on, s.vectors));
}

}  // namespace

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

V sorted_values(Lower& on, V values, bool descending) {
  const int64_t axis = on.rank(values) - 1;
  return on.TopK(values, on.int_vector(Dims{on.dim(values, axis)}), 2, {.axis = axis, .largest = descending})[0];
}

V symmetric(Lower& on, V a, bool upper) {
  const V half = on.Trilu(a, {}, {.upper = upper}),
          rest = on.Trilu(a, on.On::int_scalar(upper ? 1 : -1), {.upper = upper});
  return on.Add(half, swap_last(on, rest));
}

V values_in_double(Lower& on, V a) {
  const V squares = spectrum_of(on, gram(on, doubles(on, a))).values;
  return on.Sqrt(on.Max(std::vector<ValueId>{squares, on.number(0, DType::f64)}));
}

V matrix_rank(Lower& on, V a, const Opt<V>& atol, const Opt<V>& rtol, bool hermitian) {
  if (empty(on, a)) return on.full(without_last(on.shape(a), 2), Num(int64_t{0}), DType::i64);
  const V s = hermitian ? V(on.Abs(spectrum_of(on, symmetric(on, doubles(on, a), false)).values))
                        : values_in_double(on, a),
          limit = threshold(on, a, largest_of(on, s), atol, rtol);
  return reduce(on, Reduce::sum, on.to(on.Greater(s, on.unsqueeze(limit, {on.rank(limit)})), DType::i64),
                {on.rank(s) - 1}, false);
}

Opt<V> staged_number(Lower& on, const Opt<double>& v) { return v ? Opt<V>(on.number(*v, DType::f64)) : std::nullopt; }

V pseudo_inverse(Lower& on, V a, const Opt<V>& atol, const Opt<V>& rtol, bool hermitian) {
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

V singular_values(Lower& on, V a) {
  if (empty(on, a)) {
    Dims none = without_last(on.shape(a), 2);
    none.push_back(Dim(std::min(known_size(on, a, -2, "singular values"), known_size(on, a, -1, "singular values"))));
    return on.full(none, Num(0.0), on.dtype(a));
  }
  return on.to(sorted_values(on, values_in_double(on, a), true), on.dtype(a));
}

}  // namespace cameo::lowering
