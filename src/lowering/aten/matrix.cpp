// Linear algebra: products of several kinds, norms of matrices, determinants, systems of equations of known size.
#include <algorithm>
#include <cmath>

#include "lowering/forms.h"
#include "lowering/matrix.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

V swap_last(Lower& on, V x) {
  on.need_rank(x, 2, "a matrix operation");
  Ints perm = on.all_axes(x);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return on.transpose(x, perm);
}
Dims without_last(const Dims& s, size_t n) {
  if (s.size() < n)
    unsupported(cat("a matrix operation of a tensor with ", s.size(), s.size() == 1 ? " axis" : " axes"));
  return {s.begin(), s.end() - static_cast<std::ptrdiff_t>(n)};
}

V identity(Lower& on, V like) {
  const V one = on.EyeLike(on.full({on.dim(like, -2), on.dim(like, -1)}, Num(0.0), on.dtype(like)),
                           {.dtype = static_cast<int64_t>(on.dtype(like))});
  return on.expand(one, on.shape(like));
}

// Gauss and Jordan, the largest pivot of each column first: a x = b for all columns of b at once.
V solved(Lower& on, V a, V b) {
  const int64_t n = known_size(on, a, -1, "a system of equations"), rank = on.rank(a);
  if (n > 64) unsupported(cat("a system of ", n, " equations"), "systems of up to 64 are written out");
  Dims lead = broadcast_shapes(without_last(on.shape(a), 2), without_last(on.shape(b), 2)), sa = lead, sb = lead;
  sa.insert(sa.end(), {Dim(n), Dim(n)});
  sb.insert(sb.end(), {Dim(n), on.dim(b, -1)});
  V m = on.concat({on.expand(a, sa), on.expand(b, sb)}, std::max(rank, on.rank(b)) - 1);
  const int64_t column_axis = on.rank(m) - 1, row_axis = column_axis - 1;
  const V rows = iota(on, Dim(n)), tall = on.unsqueeze(rows, {1});
  for (int64_t c = 0; c < n; ++c) {
    const V here = on.On::int_scalar(c);
    const V below = on.Abs(on.slice(on.gather_scalar(m, column_axis, Dim(c)), row_axis, Dim(c), Dim(n)));
    const V pivot = on.Add(on.ArgMax(below, {.axis = row_axis, .keepdims = 1}), here);
    const V order = on.Where(on.Equal(rows, here), pivot, on.Where(on.Equal(rows, pivot), here, rows));
    m = on.GatherElements(m, on.expand(on.unsqueeze(order, {column_axis}), on.shape(m)), {.axis = row_axis});
    const V row = on.slice(m, row_axis, Dim(c), Dim(c + 1));
    const V scaled = on.Div(row, on.slice(row, column_axis, Dim(c), Dim(c + 1)));
    const V others = on.Sub(m, on.Mul(on.slice(m, column_axis, Dim(c), Dim(c + 1)), scaled));
    m = on.Where(on.Equal(tall, here), scaled, others);
  }
  return on.slice(m, column_axis, Dim(n), on.dim(m, column_axis));
}
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

V determinant(Lower& on, V x) {
  if (on.dim(x, -1).is(0)) return on.full(without_last(on.shape(x), 2), Num(1.0), on.dtype(x));
  return on.Det(x);
}

V kept_as_ones(Lower& on, V y, Ints axes, bool keepdim) {
  std::sort(axes.begin(), axes.end());
  return keepdim ? on.unsqueeze(y, axes) : y;
}

V matrix_norm(Lower& on, V x, double p, const Ints& dims, bool keepdim) {
  const Ints axes = on.axes(x, dims);
  if (axes.size() != 2) unsupported(cat("a matrix norm over ", axes.size(), " axes"));
  const int64_t summed = std::abs(p) == 1 ? axes[0] : axes[1], kept = std::abs(p) == 1 ? axes[1] : axes[0];
  if (std::abs(p) == 2) {
    const V s = singular_values(on, moved(on, x, axes, {-2, -1}));
    return kept_as_ones(on, reduce(on, p > 0 ? Reduce::max : Reduce::min, s, {on.rank(s) - 1}, false), axes, keepdim);
  }
  if (std::abs(p) != 1 && !std::isinf(p)) unsupported(cat("a matrix norm of order ", p));
  const V sums = reduce(on, Reduce::l1, x, {summed}, true);
  const V y = reduce(on, p > 0 ? Reduce::max : Reduce::min, sums, {kept}, true);
  Ints ordered = axes;
  std::sort(ordered.begin(), ordered.end());
  return keepdim ? y : on.squeeze(y, ordered);
}
V named_norm(Lower& on, V x, const Str& name, const Ints& dims, bool keepdim) {
  if (name == "nuc") {
    const V s = singular_values(on, moved(on, x, on.axes(x, dims), {-2, -1}));
    return kept_as_ones(on, reduce(on, Reduce::sum, s, {on.rank(s) - 1}, false), on.axes(x, dims), keepdim);
  }
  return vector_norm(on, x, 2, on.axes(x, dims), keepdim);
}
V norm(Lower& on, V x, Opt<double> p, Opt<Ints> dims, bool keepdim, Opt<DType> t) {
  if (t) x = on.to(x, *t);
  const size_t count = dims ? dims->size() : static_cast<size_t>(on.rank(x));
  if (p && count == 2) return matrix_norm(on, x, *p, dims.value_or(Ints{0, 1}), keepdim);
  return vector_norm(on, x, p.value_or(2), dims ? on.axes(x, *dims) : on.all_axes(x), keepdim);
}

V inverse(Lower& on, V a) { return on.dim(a, -1).is(0) ? a : solved(on, a, identity(on, a)); }

V solve(Lower& on, V a, V b, bool left) {
  const bool vector =
      on.rank(b) == 1 || (on.rank(b) == on.rank(a) - 1 && Dims(on.shape(b)) == without_last(on.shape(a), 1));
  if (vector) b = on.unsqueeze(b, {on.rank(b)});
  const V x = left ? solved(on, a, b) : swap_last(on, solved(on, swap_last(on, a), swap_last(on, b)));
  return vector ? on.squeeze(x, {on.rank(x) - 1}) : x;
}
V no_fault(Lower& on, V a) { return on.full(without_last(on.shape(a), 2), Num(int64_t{0}), DType::i32); }

V triangle_of(Lower& on, V a, bool upper, bool unit) {
  a = on.Trilu(a, {}, {.upper = upper});
  return unit ? V(on.Where(on.to(identity(on, a), DType::boolean), on.number_like(1, a), a)) : a;
}
V triangular(Lower& on, V a, V b, bool upper, bool left, bool unit) {
  return solve(on, triangle_of(on, a, upper, unit), b, left);
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
V from_factor(Lower& on, V l, bool upper) {
  return upper ? on.MatMul(swap_last(on, l), l) : on.MatMul(l, swap_last(on, l));
}

V matrix_power(Lower& on, V x, int64_t n) {
  if (n < 0) x = inverse(on, x), n = -n;
  Opt<V> y;
  for (; n > 0; n /= 2) {
    if (n % 2) y = y ? V(on.MatMul(*y, x)) : x;
    if (n > 1) x = on.MatMul(x, x);
  }
  return y ? *y : identity(on, x);
}

V kron(Lower& on, V a, V b) {
  const int64_t rank = std::max(on.rank(a), on.rank(b));
  const auto wide = [&](V x) {
    Dims s(static_cast<size_t>(rank - on.rank(x)), Dim(1));
    s.insert(s.end(), on.shape(x).begin(), on.shape(x).end());
    return s;
  };
  const Dims sa = wide(a), sb = wide(b);
  Dims pa, pb, out;
  for (size_t i = 0; i < sa.size(); ++i) {
    pa.insert(pa.end(), {sa[i], Dim(1)});
    pb.insert(pb.end(), {Dim(1), sb[i]});
    out.push_back(sa[i] * sb[i]);
  }
  return on.reshape(on.Mul(on.reshape(a, pa), on.reshape(b, pb)), out);
}

// An axis of size 1 meets any size of the other's: there the other is summed.
void sum_against_one(Lower& on, V& a, const Ints& xa, const V& b, const Ints& xb) {
  Ints summed;
  for (size_t i = 0; i < xa.size(); ++i)
    if (on.dim(b, xb[i]).is(1) && !on.dim(a, xa[i]).is(1)) summed.push_back(xa[i]);
  if (!summed.empty()) a = reduce(on, Reduce::sum, a, summed, true);
}
V tensor_dot(Lower& on, V a, V b, Ints da, Ints db) {
  const Ints xa = on.axes(a, da), xb = on.axes(b, db);
  if (xa.size() != xb.size())
    unsupported(cat("tensordot over ", xa.size(), " axes of one and ", xb.size(), " of the other tensor"));
  sum_against_one(on, a, xa, b, xb);
  sum_against_one(on, b, xb, a, xa);
  Ints pa, pb = xb;
  Dims out;
  Dim rows(1), columns(1), inner(1);
  const auto has = [](const Ints& v, int64_t i) { return std::find(v.begin(), v.end(), i) != v.end(); };
  for (const int64_t i : on.all_axes(a))
    if (!has(xa, i)) pa.push_back(i), out.push_back(on.dim(a, i)), rows = rows * on.dim(a, i);
  for (const int64_t i : xa) pa.push_back(i), inner = inner * on.dim(a, i);
  for (const int64_t i : on.all_axes(b))
    if (!has(xb, i)) pb.push_back(i), out.push_back(on.dim(b, i)), columns = columns * on.dim(b, i);
  return on.reshape(
      on.MatMul(on.reshape(on.transpose(a, pa), {rows, inner}), on.reshape(on.transpose(b, pb), {inner, columns})),
      out);
}

// Observations count f times, and with the weight a.
V covariance(Lower& on, V x, double correction, const Opt<V>& f = {}, const Opt<V>& a = {}) {
  if (!on.is_float(x)) x = on.to(x, default_float);
  const bool single = on.rank(x) < 2 || on.dim(x, 0).is(1);
  if (single) x = on.reshape(x, {Dim(1), element_count(on.shape(x))});
  const DType t = on.dtype(x);
  const auto in_row = [&](V w) { return on.to(flat(on, w), t); };
  const auto total = [&](V w) { return reduce(on, Reduce::sum, w, {0}, false); };
  V centred, weighted, n;
  if (!f && !a) {
    weighted = centred = on.Sub(x, reduce(on, Reduce::mean, x, {1}, true));
    n = on.Sub(on.to(on.int_scalar(on.dim(x, 1)), t), on.number(correction, t));
  } else {
    const V w = f && a ? V(on.Mul(in_row(*f), in_row(*a))) : in_row(f ? *f : *a), sum = total(w);
    centred = on.Sub(x, on.Div(reduce(on, Reduce::sum, on.Mul(x, w), {1}, true), sum));
    weighted = on.Mul(centred, w);
    const V lost = a ? V(on.Div(total(on.Mul(w, in_row(*a))), sum)) : on.number(1, t);
    n = correction == 0 ? sum : V(on.Sub(sum, on.Mul(on.number(correction, t), lost)));
  }
  const V c =
      on.Div(on.MatMul(weighted, on.transpose(centred, {1, 0})), on.Max(std::vector<ValueId>{n, on.number(0, t)}));
  return single ? on.squeeze(c, {0, 1}) : c;
}
V correlation(Lower& on, V x) {
  const V c = covariance(on, x, 1);
  if (on.rank(c) == 0) return on.Div(c, c);
  const V spread = on.Sqrt(reduce(on, Reduce::sum, on.Mul(c, identity(on, c)), {1}, false));
  return on.Clip(on.Div(on.Div(c, on.unsqueeze(spread, {1})), on.unsqueeze(spread, {0})), on.number_like(-1, c),
                 on.number_like(1, c));
}

V distances(Lower& on, V a, V b, double p) {
  const V d = on.Sub(on.unsqueeze(a, {on.rank(a) - 1}), on.unsqueeze(b, {on.rank(b) - 2}));
  return vector_norm(on, d, p, {on.rank(d) - 1}, false);
}
V pair_distances(Lower& on, V x, double p) {
  const int64_t n = known_size(on, x, 0, "pdist");
  Ints first, second;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = i + 1; k < n; ++k) first.push_back(i), second.push_back(k);
  const V d = on.Sub(on.Gather(x, on.ints(first), {.axis = 0}), on.Gather(x, on.ints(second), {.axis = 0}));
  return vector_norm(on, d, p, {1}, false);
}

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

// The product of three tensors with new axes, summed over some.
V trilinear(Lower& on, V a, V b, V c, Ints new_a, Ints new_b, Ints new_c, Ints summed) {
  const V y = on.Mul(on.Mul(on.unsqueeze(a, new_a), on.unsqueeze(c, new_c)), on.unsqueeze(b, new_b));
  return summed.empty() ? y : reduce(on, Reduce::sum, y, on.axes(y, summed), false);
}

V block_diagonal(Lower& on, Vs blocks) {
  Dim width(0), before(0);
  for (V& b : blocks) {
    if (on.rank(b) < 2) b = on.reshape(b, {Dim(1), element_count(on.shape(b))});
    width = width + on.dim(b, 1);
  }
  for (V& b : blocks) {
    const Dim own = on.dim(b, 1);
    const V padded = on.Pad(b, on.int_vector(Dims{Dim(0), before, Dim(0), width - before - own}));
    before = before + own;
    b = padded;
  }
  return on.concat(blocks, 0);
}

V cartesian(Lower& on, Vs parts) {
  if (parts.size() == 1) return parts[0];
  Dims shape;
  for (const V v : parts) shape.push_back(element_count(on.shape(v)));
  const auto rank = static_cast<int64_t>(parts.size());
  for (int64_t i = 0; i < rank; ++i) {
    V& v = parts[static_cast<size_t>(i)];
    v = on.unsqueeze(flat(on, on.expand(reach(on, flat(on, v), i, rank), shape)), {1});
  }
  return on.concat(parts, 1);
}

V combinations(Lower& on, V x, int64_t r, bool again) {
  const int64_t n = known_size(on, x, 0, "combinations");
  constexpr size_t most = 1 << 22;  // numbers in the table of all combinations
  if (r < 0 || r > 1024) unsupported(cat("combinations of ", r, " elements"));
  Ints rows, at(static_cast<size_t>(r), 0);
  for (int64_t i = 0; i < r && !again; ++i) at[static_cast<size_t>(i)] = i;
  int64_t count = 0;
  const auto fits = [&](int64_t i, int64_t v) { return v < (again ? n : n - r + i + 1); };
  for (bool more = r > 0 && fits(0, at[0]) && fits(r - 1, at.back()); more; ++count) {
    rows.insert(rows.end(), at.begin(), at.end());
    if (rows.size() > most) unsupported("more combinations than a table of 4 million numbers can hold");
    int64_t i = r - 1;
    while (i >= 0 && !fits(i, at[static_cast<size_t>(i)] + 1)) --i;
    more = i >= 0;
    for (int64_t v = more ? ++at[static_cast<size_t>(i)] : 0, k = i + 1; more && k < r; ++k)
      at[static_cast<size_t>(k)] = again ? v : ++v;
  }
  return on.Gather(x, on.reshape(on.ints(rows), {Dim(count), Dim(r)}), {.axis = 0});
}

V tensor_inverse(Lower& on, V x, int64_t ind) {
  const Dims s = on.shape(x);
  if (ind <= 0 || ind >= on.rank(x)) unsupported(cat("an inverse over ", ind, " of ", s.size(), " axes"));
  const Dims head(s.begin(), s.begin() + ind), tail(s.begin() + ind, s.end());
  Dims out = tail;
  out.insert(out.end(), head.begin(), head.end());
  return on.reshape(inverse(on, on.reshape(x, {element_count(head), element_count(tail)})), out);
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
    {"aten::linalg_cross",
     [](Lower& on, V a, V b, int64_t dim) { return cross(on, a, b, on.axis(on.rank(a) >= on.rank(b) ? a : b, dim)); },
     promote(0, 1)},
    {"aten::cross", [](Lower& on, V a, V b, Opt<int64_t> dim) { return cross(on, a, b, first_of_three(on, a, dim)); },
     promote(0, 1)},
    {"aten::linalg_det", fn<determinant>},
    {"aten::det", fn<determinant>},
    {"aten::logdet", [](Lower& on, V x) { return V(on.Log(determinant(on, x))); }},
    {"aten::linalg_slogdet",
     [](Lower& on, V x) {
       const V d = determinant(on, x);
       return std::tuple<V, V>{on.Sign(d), on.Log(on.Abs(d))};
     }},
    {"aten::slogdet",
     [](Lower& on, V x) {
       const V d = determinant(on, x);
       return std::tuple<V, V>{on.Sign(d), on.Log(on.Abs(d))};
     }},
    {"aten::linalg_norm", fn<norm>},
    {"aten::linalg_norm.ord_str",
     [](Lower& on, V x, Str ord, Opt<Ints> d, bool keep, Opt<DType> t) {
       return named_norm(on, t ? on.to(x, *t) : x, ord, d.value_or(Ints{0, 1}), keep);
     }},
    {"aten::linalg_matrix_norm", [](Lower& on, V x, double p, Ints d, bool keep,
                                    Opt<DType> t) { return matrix_norm(on, t ? on.to(x, *t) : x, p, d, keep); }},
    {"aten::linalg_matrix_norm.str_ord",
     [](Lower& on, V x, Str ord, Ints d, bool keep, Opt<DType> t) {
       return named_norm(on, t ? on.to(x, *t) : x, ord, d, keep);
     }},
    {"aten::frobenius_norm.dim",
     [](Lower& on, V x, Ints d, bool keep) {
       return vector_norm(on, x, 2, d.empty() ? on.all_axes(x) : on.axes(x, d), keep);
     }},
    {"aten::dist",
     [](Lower& on, V a, V b, double p) {
       const V d = on.Sub(a, b);
       return vector_norm(on, d, p, on.all_axes(d), false);
     },
     promote(0, 1)},
    {"aten::renorm",
     [](Lower& on, V x, double p, int64_t dim, double most) {
       Ints others = on.all_axes(x);
       others.erase(others.begin() + on.axis(x, dim));
       const V size = vector_norm(on, x, p, others, true), limit = on.number_like(most, x);
       return V(on.Mul(x, on.Where(on.Greater(size, limit), on.Div(limit, on.Add(size, on.number_like(1e-7, x))),
                                   on.number_like(1, x))));
     }},
    {"aten::linalg_vecdot",
     [](Lower& on, V a, V b, int64_t dim) {
       const V p = on.Mul(a, b);
       return reduce(on, Reduce::sum, p, {on.axis(p, dim)}, false);
     },
     promote(0, 1)},
    {"aten::linalg_matrix_power", fn<matrix_power>},
    {"aten::matrix_power", fn<matrix_power>},
    {"aten::linalg_multi_dot",
     [](Lower& on, Vs parts) {
       V y = parts[0];
       for (size_t i = 1; i < parts.size(); ++i) y = on.MatMul(y, parts[i]);
       return y;
     }},
    {"aten::chain_matmul",
     [](Lower& on, Vs parts) {
       V y = parts[0];
       for (size_t i = 1; i < parts.size(); ++i) y = on.MatMul(y, parts[i]);
       return y;
     }},
    {"aten::kron", fn<kron>, promote(0, 1)},
    {"aten::tensordot", fn<tensor_dot>},
    {"aten::linalg_vander",
     [](Lower& on, V x, Opt<Dim> n) {
       if (!on.is_float(x)) x = on.to(x, DType::i64);
       if (on.rank(x) == 0) x = flat(on, x);
       return V(on.Pow(on.unsqueeze(x, {on.rank(x)}), on.to(iota(on, n.value_or(on.dim(x, -1))), on.dtype(x))));
     }},
    {"aten::cov",
     [](Lower& on, V x, double correction, Opt<V> f, Opt<V> a) { return covariance(on, x, correction, f, a); }},
    {"aten::corrcoef", fn<correlation>},
    {"aten::cdist", fn<distances>},
    {"aten::_cdist_forward", fn<distances>},
    {"aten::pdist", fn<pair_distances>},
    {"aten::_pdist_forward", fn<pair_distances>},
    {"aten::bilinear", fn<bilinear>},
    {"aten::_trilinear", fn<trilinear>},
    {"aten::block_diag", fn<block_diagonal>, promote(0)},
    {"aten::cartesian_prod", fn<cartesian>},
    {"aten::combinations", fn<combinations>},
    {"aten::linalg_inv", fn<inverse>},
    {"aten::inverse", fn<inverse>},
    {"aten::linalg_inv_ex",
     [](Lower& on, V a) {
       return std::tuple<V, V>{inverse(on, a), no_fault(on, a)};
     }},
    {"aten::linalg_solve", fn<solve>},
    {"aten::linalg_solve_ex",
     [](Lower& on, V a, V b, bool left) {
       return std::tuple<V, V>{solve(on, a, b, left), no_fault(on, a)};
     }},
    {"aten::linalg_solve_triangular", fn<triangular>},
    {"aten::triangular_solve",
     [](Lower& on, V b, V a, bool upper, bool transposed, bool unit) {
       const V t = triangle_of(on, a, upper, unit);
       return std::tuple<V, V>{solve(on, transposed ? swap_last(on, t) : t, b, true), a};
     }},
    {"aten::linalg_cholesky", fn<cholesky>},
    {"aten::cholesky", fn<cholesky>},
    {"aten::linalg_cholesky_ex",
     [](Lower& on, V a, bool upper) {
       return std::tuple<V, V>{cholesky(on, a, upper), no_fault(on, a)};
     }},
    {"aten::cholesky_solve",
     [](Lower& on, V b, V l, bool upper) {
       return on.dim(l, -1).is(0) ? b : solved(on, from_factor(on, l, upper), b);
     }},
    {"aten::cholesky_inverse",
     [](Lower& on, V l, bool upper) { return inverse(on, on.dim(l, -1).is(0) ? l : from_factor(on, l, upper)); }},
    {"aten::linalg_tensorinv", fn<tensor_inverse>},
    {"aten::linalg_tensorsolve", fn<tensor_solve>},
};

}  // namespace

std::span<const Row> matrix_rows() { return table; }

}  // namespace cameo::lowering
