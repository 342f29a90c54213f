// torch, BLAS and LAPACK Operations: products; integrals. What has a twin in torch.linalg stands there.
#include "lowering/axes.h"
#include "lowering/complex.h"
#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

V baddbmm(Lower& on, V c, V a, V b, const Num& beta, const Num& alpha) {
  V p = on.MatMul(a, b);
  if (!alpha.is(1)) p = on.Mul(p, on.scalar_like(alpha, p));
  if (beta.is(0)) return p;
  if (!beta.is(1)) c = on.Mul(c, on.scalar_like(beta, c));
  return on.Add(c, p);
}

V outer(Lower& on, V a, V b) {
  const V column = on.unsqueeze(a, {1}), row = on.unsqueeze(b, {0});
  return on.is_bool(a) ? V(on.And(column, row)) : V(on.Mul(column, row));
}

// Where the inner size may be 0, engines lose beta: the sum is scaled before.
V scaled_product(Lower& on, V c, V a, V b, double beta, double alpha) {
  if (beta != 1 && on.graph().facts.surely_less(Dim(0), on.dim(a, 1)) != Answer::yes) {
    c = beta == 0 ? on.number_like(0, c) : V(on.Mul(c, on.number_like(beta, c)));
    beta = 1;
  }
  return on.Gemm(a, b, c, {.alpha = static_cast<float>(alpha), .beta = static_cast<float>(beta)});
}

V trapezoids(Lower& on, V y, V width, int64_t axis, bool running) {
  const V sum = on.Add(trimmed(on, y, axis, Dim(1), Dim(0)), trimmed(on, y, axis, Dim(0), Dim(1)));
  const V areas = on.Mul(on.Mul(sum, on.number_like(0.5, y)), width);
  return running ? V(on.CumSum(areas, on.On::int_scalar(axis))) : reduce(on, Reduce::sum, areas, {axis}, false);
}

template <bool Running>
V trapezoid(Lower& on, V y, V x, int64_t dim) {
  const int64_t axis = on.axis(y, dim);
  if (on.rank(x) == 1) x = reach(on, x, axis, on.rank(y));
  const int64_t x_axis = axis - on.rank(y) + on.rank(x);
  return trapezoids(on, y, differences(on, x, x_axis), axis, Running);
}

template <bool Running>
V trapezoid_dx(Lower& on, V y, Num dx, int64_t dim) {
  if (!on.is_float(y)) y = on.to(y, default_float);
  return trapezoids(on, y, on.scalar_like(dx, y), on.axis(y, dim), Running);
}

// Rows of x belong to matrices by their number: group g ends before row ends[g]. Rows after the last group are zero.
V grouped_product(Lower& on, V x, V w, Opt<V> ends, Opt<V> bias, Opt<DType> t) {
  if (!ends || on.rank(x) != 2 || on.rank(w) != 3 || bias) unsupported("_grouped_mm in this form");
  const int64_t groups = known_size(on, w, 0, "_grouped_mm");
  Vs parts;
  Dim before(0);
  for (int64_t g = 0; g < groups; ++g) {
    const Dim end = on.int_of(on.to(on.gather_scalar(*ends, 0, Dim(g)), DType::i64));
    parts.push_back(on.MatMul(on.slice(x, 0, before, end), on.gather_scalar(w, 0, Dim(g))));
    before = end;
  }
  parts.push_back(on.expand(on.number_like(0, x), {on.dim(x, 0) - before, on.dim(w, 2)}));
  const V y = on.concat(parts, 0);
  return t ? on.to(y, *t) : y;
}

constexpr Row table[] = {
    {"aten::addbmm",
     [](Lower& on, V c, V a, V b, Num beta, Num alpha) {
       V p = reduce(on, Reduce::sum, on.MatMul(a, b), {0}, false);
       if (!alpha.is(1)) p = on.Mul(p, on.scalar_like(alpha, p));
       return V(on.Add(beta.is(1) ? c : V(on.Mul(c, on.scalar_like(beta, c))), p));
     }},
    {"aten::addmm", fn<scaled_product>},
    {"aten::addmv", fn<baddbmm>},
    {"aten::addr",
     [](Lower& on, V c, V a, V b, Num beta, Num alpha) {
       V p = outer(on, a, b);
       if (!alpha.is(1)) p = on.Mul(p, on.scalar_like(alpha, p));
       return V(on.Add(beta.is(1) ? c : V(on.Mul(c, on.scalar_like(beta, c))), p));
     }},
    {"aten::baddbmm", fn<baddbmm>},
    {"aten::bmm", [](Lower& on, V a, V b) { return matmul(on, a, b); }},
    {"aten::mm", [](Lower& on, V a, V b) { return matmul(on, a, b); }},
    {"aten::mv", [](Lower& on, V a, V b) { return V(on.MatMul(a, b)); }},
    {"aten::dot", [](Lower& on, V a, V b) { return V(on.MatMul(a, b)); }},
    {"aten::vdot", [](Lower& on, V a, V b) { return V(on.MatMul(is_complex(on.dtype(a)) ? conjugate(on, a) : a, b)); }},
    {"aten::inner",
     [](Lower& on, V a, V b) {
       if (on.rank(a) == 0 || on.rank(b) == 0) return V(on.Mul(a, b));
       if (on.rank(b) == 1) return V(on.MatMul(a, b));
       const Dims tail(on.shape(b).begin(), on.shape(b).end() - 1);
       const V flat = on.transpose(on.reshape(b, {element_count(tail), on.dim(b, -1)}), {1, 0});
       Dims out(on.shape(a).begin(), on.shape(a).end() - 1);
       out.insert(out.end(), tail.begin(), tail.end());
       return on.reshape(on.MatMul(a, flat), out);
     }},
    {"aten::ger", fn<outer>, promote(0, 1)},
    {"aten::outer", fn<outer>, promote(0, 1)},
    {"aten::matmul", [](Lower& on, V a, V b) { return matmul(on, a, b); }},
    {"aten::chain_matmul",
     [](Lower& on, Vs parts) {
       V y = parts[0];
       for (size_t i = 1; i < parts.size(); ++i) y = on.MatMul(y, parts[i]);
       return y;
     }},
    {"aten::trapz.x", fn<trapezoid<false>>, promote_float(0, 1)},
    {"aten::trapz.dx", fn<trapezoid_dx<false>>},
    {"aten::trapezoid.x", fn<trapezoid<false>>, promote_float(0, 1)},
    {"aten::trapezoid.dx", fn<trapezoid_dx<false>>},
    {"aten::cumulative_trapezoid.x", fn<trapezoid<true>>, promote_float(0, 1)},
    {"aten::cumulative_trapezoid.dx", fn<trapezoid_dx<true>>},
    {"aten::_grouped_mm", fn<grouped_product>},
    {"transformers::grouped_mm_fallback",
     [](Lower& on, V x, V w, V ends) {
       return grouped_product(on, x, w, ends, {}, {});
     }},  // transformers 5, of all mixtures of experts
};

}  // namespace

std::span<const Row> torch_blas_rows() { return table; }

}  // namespace cameo::lowering
