// MatMul, MatMulInteger, Gemm.
#include "kernels/number_cast.h"
#include "ops/families.h"
#include "ops/math/elementwise.h"
#include "ops/on.h"
#include "ops/preconditions.h"

namespace cameo::ops {

namespace {

template <class C>
using Sum = std::conditional_t<std::is_floating_point_v<C>, double, uint64_t>;  // integers wrap

// A matrix inside a tensor.
template <class C>
struct Matrix {
  const C* first;
  int64_t row_step, column_step;
  Sum<C> at(int64_t row, int64_t column) const {
    return static_cast<Sum<C>>(first[row * row_step + column * column_step]);
  }
};

// sums[i * n + j] += the product of row i and column j, row by row so that memory is walked in order. A right matrix
// that lies otherwise is laid out anew first.
template <class C>
void add_product(const Matrix<C>& a, Matrix<C> b, int64_t m, int64_t k, int64_t n, Sum<C>* sums) {
  std::vector<C> rows;
  if (b.column_step != 1) {
    rows.reserve(static_cast<size_t>(k * n));
    for (int64_t l = 0; l < k; ++l)
      for (int64_t j = 0; j < n; ++j) rows.push_back(b.first[l * b.row_step + j * b.column_step]);
    b = {rows.data(), n, 1};
  }
  for (int64_t i = 0; i < m; ++i)
    for (int64_t l = 0; l < k; ++l) {
      const Sum<C> left = a.at(i, l);
      const C* right = b.first + l * b.row_step;
      for (int64_t j = 0; j < n; ++j) sums[i * n + j] += left * static_cast<Sum<C>>(right[j]);
    }
}

// Operands as stacks of matrices: a vector on the left is one row, on the right one column.
struct MatMulShapes {
  std::vector<int64_t> a, b, batch, out;
  int64_t m, k, n;

  MatMulShapes(std::vector<int64_t> left, std::vector<int64_t> right) : a(std::move(left)), b(std::move(right)) {
    if (a.empty() || b.empty()) Eval::fail("eval.shape", "a scalar is not a matrix");
    const bool row = a.size() == 1, column = b.size() == 1;
    if (row) a.insert(a.begin(), 1);
    if (column) b.push_back(1);
    m = a[a.size() - 2], k = a.back(), n = b.back();
    if (b[b.size() - 2] != k)
      Eval::fail("eval.shape", cat("a matrix of ", k, " columns times one of ", b[b.size() - 2], " rows"));
    a.resize(a.size() - 2), b.resize(b.size() - 2);
    out = batch = broadcast_shape(a, b);
    if (!row) out.push_back(m);
    if (!column) out.push_back(n);
  }
};

template <class C>
std::vector<Sum<C>> multiply(std::span<const C> a, std::span<const C> b, const MatMulShapes& s) {
  std::vector<Sum<C>> out(static_cast<size_t>(element_count(s.out)));
  if (out.empty()) return out;
  const int64_t stacks = element_count(s.batch), size = s.m * s.n;
  const auto a_at = strided_indices(s.batch, broadcast_strides(s.a, s.batch)),
             b_at = strided_indices(s.batch, broadcast_strides(s.b, s.batch));
  for (int64_t i = 0; i < stacks; ++i) {
    const auto at = static_cast<size_t>(i);
    add_product(Matrix<C>{a.data() + a_at[at] * s.m * s.k, s.k, 1}, Matrix<C>{b.data() + b_at[at] * s.k * s.n, s.n, 1},
                s.m, s.k, s.n, out.data() + i * size);
  }
  return out;
}

void infer_matmul(Infer& c, const Shape& left, const Shape& right) {
  if (left.empty() || right.empty()) c.fail("infer.rank", "a scalar is not a matrix");
  const bool row = left.size() == 1, column = right.size() == 1;
  c.same(left.back(), column ? right[0] : right[right.size() - 2], "columns of the left and rows of the right matrix");
  const Shape a(left.begin(), left.end() - (row ? 1 : 2)), b(right.begin(), right.end() - (column ? 1 : 2));
  Shape out = c.broadcast_shapes(a, b);
  if (!row) out.push_back(left[left.size() - 2]);
  if (!column) out.push_back(right.back());
  c.out(0, std::move(out));
}

struct MatMul : Rules<op::MatMul> {
  static void infer(const op::MatMul&, Infer& c) { infer_matmul(c, c.shape(0), c.shape(1)); }
  static void eval(const op::MatMul&, Eval& k) {
    const Tensor &a = k.in(0), &b = k.in(1);
    const MatMulShapes shapes(a.shape(), b.shape());
    k.out(0, NumberCarriers::with(a.dtype(), [&](auto c) {
            using C = decltype(c);
            return store(a.dtype(), shapes.out, multiply<C>(Loaded<C>(a).span(), Loaded<C>(b).span(), shapes));
          }));
  }
};

struct MatMulInteger : Rules<op::MatMulInteger> {
  static void infer(const op::MatMulInteger&, Infer& c) {
    infer_matmul(c, c.shape(0), c.shape(1));
    for (size_t i = 0; i < 2; ++i)
      if (c.has(i + 2)) infer_zero_point(c, i);
  }

  // One number, one for each row of the left (column of the right) matrix, or one for each of those of every matrix.
  static void infer_zero_point(Infer& c, size_t i) {
    const Shape &x = c.shape(i), &zero = c.shape(i + 2);
    const Dim count = element_count(zero),
              lines = x.size() == 1 ? i == 0 ? Dim(1) : x[0] : x[x.size() - (i == 0 ? 2 : 1)];
    Dim stacks(1);
    for (size_t k = 0; k + 2 < x.size(); ++k) stacks = stacks * x[k];
    const auto may_be = [&](Dim wanted) { return !wanted.is_literal() || count == wanted; };
    if (count.is_literal() && !may_be(Dim(1)) && !may_be(lines) && !may_be(lines * stacks))
      c.fail("infer.shape",
             cat("zero points of shape [", shape_text(zero), "] for matrices of shape [", shape_text(x), "]"));
  }

  // The elements less their zero point, which is one number, or one for each row (column) of the matrices.
  static std::vector<int64_t> centred(Eval& k, size_t i, bool by_row) {
    const Tensor& x = k.in(i);
    const Loaded<int64_t> values(x);
    std::vector<int64_t> out(values.span().begin(), values.span().end());
    if (!k.has(i + 2)) return out;
    const Loaded<int64_t> zeros(k.in(i + 2));
    const int64_t columns = x.rank() ? x.shape().back() : 1, rows = x.rank() > 1 ? x.shape()[x.shape().size() - 2] : 1;
    const int64_t lines = by_row ? rows : columns, stacks = x.count() > 0 ? x.count() / (columns * rows) : 0;
    if (zeros.size() != 1 && zeros.size() != lines && zeros.size() != lines * stacks)
      k.fail("eval.shape", cat("there are ", zeros.size(), " zero points for ", lines, " lines"));
    for (int64_t e = 0; e < x.count(); ++e) {
      const int64_t line = by_row ? e / columns % rows : e % columns, stack = e / (columns * rows);
      out[static_cast<size_t>(e)] -= zeros[zeros.size() == 1 ? 0 : zeros.size() == lines ? line : stack * lines + line];
    }
    return out;
  }

  static void eval(const op::MatMulInteger&, Eval& k) {
    const MatMulShapes shapes(k.in(0).shape(), k.in(1).shape());
    const auto a = centred(k, 0, true), b = centred(k, 1, false);
    k.out(0, store(DType::i32, shapes.out, multiply<int64_t>(a, b, shapes)));
  }

  static constexpr Expansion expansions[] = {
      expansion<op::MatMulInteger>(10, Exactness::exact, [](const op::MatMulInteger&, Expand& e) {
        On& on = e.on;
        const auto wide = [&](size_t i) { return on.cast(e.in(i), DType::i32); };
        ValueId a = wide(0), b = wide(1);
        // Zero points per row stand upright.
        if (e.has(2))
          a = on.Sub(a, e.fact(2).has_rank() && e.fact(2).rank() == 1 ? on.Unsqueeze(wide(2), on.ints({1})) : wide(2));
        if (e.has(3)) b = on.Sub(b, wide(3));
        e.replace({on.MatMul(a, b)});
      })};
};

struct Gemm : Rules<op::Gemm> {
  static void infer(const op::Gemm& a, Infer& c) {
    for (size_t i = 0; i < 2; ++i)
      if (c.rank(i) != 2) c.fail("infer.rank", cat("operand ", i, " has rank ", c.rank(i), ", a matrix has 2"));
    const Dim m = c.dim(0, a.transA ? 1 : 0), n = c.dim(1, a.transB ? 0 : 1);
    c.same(c.dim(0, a.transA ? 0 : 1), c.dim(1, a.transB ? 1 : 0), "columns of the left and rows of the right matrix");
    if (c.has(2)) want_broadcast(c, c.shape(2), {m, n}, "the addend");
    c.out(0, {m, n});
  }

  static void eval(const op::Gemm& a, Eval& k) {
    const Tensor &x = k.in(0), &y = k.in(1);
    if (x.rank() != 2 || y.rank() != 2) k.fail("eval.shape", "Gemm multiplies matrices");
    const int64_t m = x.shape()[a.transA ? 1 : 0], inner = x.shape()[a.transA ? 0 : 1], n = y.shape()[a.transB ? 0 : 1];
    if (inner != y.shape()[a.transB ? 1 : 0]) k.fail("eval.shape", "the matrices do not fit");
    k.out(0, NumberCarriers::with(x.dtype(), [&](auto c) {
            using C = decltype(c);
            const Loaded<C> left(x), right(y);
            std::vector<Sum<C>> out(static_cast<size_t>(element_count(std::vector{m, n})));
            if (!out.empty())
              add_product(Matrix<C>{left.data(), a.transA ? 1 : inner, a.transA ? m : 1},
                          Matrix<C>{right.data(), a.transB ? 1 : n, a.transB ? inner : 1}, m, inner, n, out.data());
            scale(out, a.alpha);
            if (k.has(2)) add(out, k.in(2), {m, n}, a.beta, C{});
            return store(x.dtype(), {m, n}, out);
          }));
  }

  template <class S>
  static void scale(std::vector<S>& values, float by) {
    if (by == 1) return;
    for (S& v : values) {
      if constexpr (std::is_floating_point_v<S>) v *= static_cast<double>(by);
      else
        v = static_cast<S>(
            cast_number<int64_t>(static_cast<double>(static_cast<int64_t>(v)) * static_cast<double>(by)));
    }
  }

  template <class S, class C>
  static void add(std::vector<S>& out, const Tensor& addend, const std::vector<int64_t>& shape, float beta, C) {
    if (broadcast_shape(shape, addend.shape()) != shape) Eval::fail("eval.shape", "the addend of Gemm does not fit");
    const Loaded<C> values(addend);
    std::vector<S> more;
    for (const C v : values.span()) more.push_back(static_cast<S>(v));
    scale(more, beta);
    const auto at = strided_indices(shape, broadcast_strides(addend.shape(), shape));
    for (size_t i = 0; i < out.size(); ++i) out[i] += more[static_cast<size_t>(at[i])];
  }

  static constexpr Revision revisions[] = {
      // Before 7 broadcasting the addend had to be asked for, and only its end could match.
      {7, [](Upgrade& u) { u.drop("broadcast"); },
       [](Downgrade& d) {
         if (!d.input(2)) return d.refuse("a product without an addend");
         const Fact& addend = d.fact(d.input(2));
         const bool fits =
             addend.has_rank() && (addend.rank() < 2 || (!addend.shape()[0].is(1) && !addend.shape()[1].is(1)));
         if (!fits) return d.refuse("an addend that broadcasts along an inner axis");
         d.set("broadcast", int64_t{1});
       }},
  };
  static constexpr Expansion expansions[] = {expansion<op::Gemm>(
      11, Exactness::exact,
      [](const op::Gemm& a, Expand& e) { e.replace({e.on.Gemm(e.in(0), e.in(1), e.on.number_like(0, e.in(0)), a)}); },
      [](const op::Gemm&, const Graph& g, NodeId n, int64_t) { return !g.input(n, 2); })};
};

constexpr OpRules table[] = {rules<MatMul>(), rules<MatMulInteger>(), rules<Gemm>()};

}  // namespace

std::span<const OpRules> matmul_rules() { return table; }

}  // namespace cameo::ops
