#include <cmath>

#include "ops/eval.h"
#include "ops/families.h"
#include "ops/infer.h"
#include "ops/on.h"

namespace cameo::ops {

namespace {

struct Det : Rules<op::Det> {
  static void infer(const op::Det&, Infer& c) {
    if (c.rank(0) < 2) c.fail("infer.rank", cat("the input has rank ", c.rank(0), ", a matrix has 2"));
    c.same(c.dim(0, c.rank(0) - 2), c.dim(0, c.rank(0) - 1), "rows and columns");
    c.out(0, Shape(c.shape(0).begin(), c.shape(0).end() - 2));
  }

  // Gaussian elimination with the largest pivot of each column.
  static double determinant(std::vector<double> a, size_t n) {
    double product = 1;
    for (size_t column = 0; column < n; ++column) {
      size_t pivot = column;
      for (size_t row = column; row < n; ++row)
        if (std::fabs(a[row * n + column]) > std::fabs(a[pivot * n + column])) pivot = row;
      const double top = a[pivot * n + column];
      if (top == 0) return 0;
      if (pivot != column) {
        product = -product;
        for (size_t j = 0; j < n; ++j) std::swap(a[pivot * n + j], a[column * n + j]);
      }
      product *= top;
      for (size_t row = column + 1; row < n; ++row) {
        const double factor = a[row * n + column] / top;
        for (size_t j = column; j < n; ++j) a[row * n + j] -= factor * a[column * n + j];
      }
    }
    return product;
  }

  static void eval(const op::Det&, Eval& k) {
    const Tensor& x = k.in(0);
    if (x.rank() < 2 || x.shape().back() != x.shape()[x.shape().size() - 2])
      k.fail("eval.shape", "a determinant needs square matrices");
    const auto n = static_cast<size_t>(x.shape().back());
    const Loaded<double> in(x);
    const std::vector<int64_t> shape(x.shape().begin(), x.shape().end() - 2);
    std::vector<double> out;
    for (int64_t i = 0; i < element_count(shape); ++i) {
      const auto matrix = in.span().subspan(static_cast<size_t>(i) * n * n, n * n);
      out.push_back(determinant({matrix.begin(), matrix.end()}, n));
    }
    k.out(0, store(x.dtype(), shape, out));
  }

  // Small matrices by their formula: rows are taken apart and multiplied crosswise.
  static void expand(Expand& e) {
    On& on = e.on;
    const auto size = e.fact(0).has_rank() && e.fact(0).rank() >= 2 ? e.fact(0).shape().back().known() : std::nullopt;
    if (!size || *size < 1 || *size > 3) return e.refuse("only matrices of known size up to 3 can be written out");
    const auto at = [&](int64_t row, int64_t column) {
      const ValueId line = on.Gather(e.in(0), on.int_scalar(row), op::Gather{.axis = e.fact(0).rank() - 2});
      return on.Gather(line, on.int_scalar(column), op::Gather{.axis = e.fact(0).rank() - 2});
    };
    const auto minor = [&](int64_t row, int64_t a, int64_t b) {
      return on.Sub(on.Mul(at(row, a), at(row + 1, b)), on.Mul(at(row, b), at(row + 1, a)));
    };
    if (*size == 1) return e.replace({at(0, 0)});
    if (*size == 2) return e.replace({minor(0, 0, 1)});
    const ValueId first = on.Mul(at(0, 0), minor(1, 1, 2)), second = on.Mul(at(0, 1), minor(1, 0, 2)),
                  third = on.Mul(at(0, 2), minor(1, 0, 1));
    e.replace({on.Add(on.Sub(first, second), third)});
  }
  static constexpr Expansion expansions[] = {
      expansion<op::Det>(11, Exactness::rounding, [](const op::Det&, Expand& e) { expand(e); })};
};

constexpr OpRules table[] = {rules<Det>()};

}  // namespace

std::span<const OpRules> det_rules() { return table; }

}  // namespace cameo::ops
