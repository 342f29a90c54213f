// torch, Other Operations: sums of products, covariances, distances, common divisors.
#include <algorithm>

#include "lowering/aten/linalg/matrix.h"
#include "lowering/axes.h"
#include "lowering/forms.h"
#include "lowering/loop.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

V vander(Lower& on, V x, Opt<Dim> n, bool increasing) {
  const DType t = on.is_float(x) ? on.dtype(x) : DType::i64;
  const Dim count = n.value_or(on.dim(x, 0));
  V powers = iota(on, count);
  if (!increasing) powers = on.Sub(on.int_scalar(count - Dim(1)), powers);
  return on.Pow(on.unsqueeze(on.to(x, t), {1}), on.to(powers, t));
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
  const V left = on.reshape(a, pa), right = on.reshape(b, pb);
  return on.reshape(on.is_bool(a) ? V(on.And(left, right)) : V(on.Mul(left, right)), out);
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
  const bool single = on.rank(x) < 2 || on.provably(on.dim(x, 0), Dim(1));
  if (!single) on.guess_not_equal(on.dim(x, 0), 1, "the covariance of one variable has no axes");
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

// The product of three tensors with new axes, summed over some.
V trilinear(Lower& on, V a, V b, V c, Ints new_a, Ints new_b, Ints new_c, Ints summed) {
  const V y = on.Mul(on.Mul(on.unsqueeze(a, new_a), on.unsqueeze(c, new_c)), on.unsqueeze(b, new_b));
  return summed.empty() ? y : reduce(on, Reduce::sum, y, on.axes(y, summed), false);
}

V any_nonzero(Lower& on, V x) {
  return on.to(reduce(on, Reduce::max, on.to(on.to(flat(on, x), DType::boolean), DType::i32), {0}, false),
               DType::boolean);
}

// Euclid, for all elements until the last one is done.
V greatest_divisor(Lower& on, V a, V b) {
  const Broadcast both = broadcast_both(on, on.Abs(a), on.Abs(b));
  const V x = both.a, y = both.b;
  if (element_count(on.shape(x)).is(0)) return x;
  LoopWriter w(on, on.On::int_scalar(128), {x, y});
  const Vs s = w.state();
  const V done = on.Equal(s[1], on.number_like(0, x));
  const V rest = on.Where(done, s[1], on.Mod(s[0], on.Where(done, on.number_like(1, x), s[1])));
  const V next = on.Where(done, s[0], s[1]);
  return w.finish({next, rest}, any_nonzero(on, rest))[0];
}

V least_multiple(Lower& on, V a, V b) {
  const V d = greatest_divisor(on, a, b);
  const V none = on.Equal(d, on.number_like(0, d));
  return on.Abs(on.Where(none, d, on.Mul(on.Div(a, on.Where(none, on.number_like(1, d), d)), b)));
}

constexpr Row table[] = {
    {"aten::einsum",
     [](Lower& on, Str equation, Vs parts) {
       std::erase(equation, ' ');
       return V(on.Einsum(std::vector<ValueId>(parts.begin(), parts.end()), {.equation = equation}));
     }},
    {"aten::tensordot", fn<tensor_dot>},
    {"aten::kron", fn<kron>, promote(0, 1)},
    {"aten::vander", fn<vander>},
    {"aten::cov",
     [](Lower& on, V x, double correction, Opt<V> f, Opt<V> a) { return covariance(on, x, correction, f, a); }},
    {"aten::corrcoef", fn<correlation>},
    {"aten::cdist", fn<distances>},
    {"aten::_cdist_forward", fn<distances>},
    {"aten::renorm",
     [](Lower& on, V x, double p, int64_t dim, double most) {
       Ints others = on.all_axes(x);
       others.erase(others.begin() + on.axis(x, dim));
       const V size = vector_norm(on, x, p, others, true), limit = on.number_like(most, x);
       return V(on.Mul(x, on.Where(on.Greater(size, limit), on.Div(limit, on.Add(size, on.number_like(1e-7, x))),
                                   on.number_like(1, x))));
     }},
    {"aten::gcd", fn<greatest_divisor>, promote(0, 1)},
    {"aten::lcm", fn<least_multiple>, promote(0, 1)},
    {"aten::_trilinear", fn<trilinear>},
};

}  // namespace

std::span<const Row> torch_other_algebra_rows() { return table; }

}  // namespace cameo::lowering
