// OneHot and Trilu: elements chosen by where they stand.
#include <algorithm>
#include <cmath>

#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/on.h"

namespace cameo::ops {

namespace {

struct OneHot : Rules<op::OneHot> {
  static void infer(const op::OneHot& a, Infer& c) {
    const int64_t axis = c.axis(a.axis, c.rank(0) + 1);
    c.same(element_count(c.shape(1)), 1, "number of depths and 1");
    c.same(element_count(c.shape(2)), 2, "number of values and 2");
    Shape out = c.shape(0);
    out.insert(out.begin() + axis, depth(c));
    c.out(0, out);
  }

  static bool is_depth(double d) { return d >= 0 && d < 9e15; }

  static Dim depth(Infer& c) {
    if (const auto d = c.ints(1); d && d->size() == 1) return (*d)[0];
    if (const Tensor* t = c.constant(1); t && t->count() == 1 && is_float(t->dtype())) {
      if (!is_depth(t->double_at(0))) c.fail("infer.shape", cat("a depth of ", t->double_at(0)));
      return static_cast<int64_t>(t->double_at(0));
    }
    return c.fresh("depth");
  }

  static void eval(const op::OneHot& a, Eval& k) {
    const Tensor &indices = k.in(0), &values = k.in(2);
    const double wanted = k.double_scalar(1);
    if (!is_depth(wanted)) k.fail("eval.shape", cat("OneHot with a depth of ", wanted));
    if (values.count() != 2) k.fail("eval.shape", cat("OneHot with ", values.count(), " values where two are wanted"));
    const auto depth = static_cast<int64_t>(wanted);
    const int64_t axis = k.axis(a.axis, indices.rank() + 1);
    auto shape = indices.shape();
    shape.insert(shape.begin() + axis, depth);
    std::vector<int64_t> places(static_cast<size_t>(element_count(shape)), 0);
    const int64_t inner = element_count(std::span<const int64_t>(indices.shape()).subspan(static_cast<size_t>(axis)));
    const Loaded<int64_t> index(indices);
    for (int64_t i = 0; i < index.size(); ++i) {
      const int64_t at = index[i] < 0 ? index[i] + depth : index[i];
      if (at >= 0 && at < depth) places[static_cast<size_t>((i / inner * depth + at) * inner + i % inner)] = 1;
    }
    k.out(0, take(values, shape, places));
  }
};

// Whether element (row, column) of a matrix is kept; written so that no k overflows.
bool kept(int64_t row, int64_t column, int64_t k, bool upper) { return upper ? column - row >= k : column - row <= k; }

struct Trilu : Rules<op::Trilu> {
  static void infer(const op::Trilu&, Infer& c) {
    if (c.rank(0) < 2) c.fail("infer.rank", cat("the input has rank ", c.rank(0), ", a matrix is wanted"));
    if (c.has(1)) c.same(element_count(c.shape(1)), 1, "number of diagonals and 1");
    c.out(0, c.shape(0));
  }

  static void eval(const op::Trilu& a, Eval& k) {
    const Tensor& x = k.in(0);
    if (x.rank() < 2) k.fail("eval.rank", cat("Trilu of a tensor of rank ", x.rank()));
    const int64_t diagonal = k.has(1) ? k.int_scalar(1) : 0;
    const int64_t rows = x.shape()[x.shape().size() - 2], columns = x.shape().back();
    std::vector<int64_t> places(static_cast<size_t>(x.count()));
    for (int64_t i = 0; i < x.count(); ++i)
      places[static_cast<size_t>(i)] = kept(i / columns % rows, i % columns, diagonal, a.upper != 0) ? i : -1;
    k.out(0, take(x, x.shape(), places));
  }

  // Where(mask, x, 0), the mask a constant where the sizes are known.
  static void expand(const op::Trilu& a, Expand& e) {
    if (!e.fact(0).has_rank()) return e.refuse("the rank is not known before the model runs");
    const auto diagonal = e.has(1) ? e.graph.constant(e.in(1)) : Tensor::int_scalar(0);
    const Shape& shape = e.fact(0).shape();
    const Dim rows = shape[shape.size() - 2], columns = shape.back();
    ValueId mask;
    constexpr int64_t most = 1 << 24;  // elements of a mask that is stored
    if (diagonal && rows.is_literal() && columns.is_literal() && rows.literal() < most && columns.literal() < most &&
        rows.literal() * columns.literal() < most) {
      std::vector<uint8_t> bits;
      for (int64_t r = 0; r < rows.literal(); ++r)
        for (int64_t c = 0; c < columns.literal(); ++c) bits.push_back(kept(r, c, diagonal->int_at(0), a.upper != 0));
      mask = e.on.constant(store(DType::boolean, {rows.literal(), columns.literal()}, bits));
    } else {
      mask = emit_mask(a, e);
    }
    const ValueId zero = e.on.constant(zeros(e.dtype(0), {}));
    e.replace({e.on.Where(mask, e.in(0), zero)});
  }

  static ValueId emit_mask(const op::Trilu& a, Expand& e) {
    On& on = e.on;
    const int64_t rank = e.fact(0).rank();
    const ValueId shape = on.Shape(e.in(0)), zero = on.int_scalar(0), one = on.int_scalar(1);
    const ValueId row = on.Unsqueeze(on.Range(zero, on.Gather(shape, on.int_scalar(rank - 2)), one), on.ints({1}));
    const ValueId column = on.Range(zero, on.Gather(shape, on.int_scalar(rank - 1)), one);
    const ValueId offset = on.Sub(column, row), k = e.has(1) ? e.in(1) : zero;
    return on.Not(a.upper ? on.Less(offset, k) : on.Greater(offset, k));
  }

  static constexpr Expansion expansions[] = {
      expansion<op::Trilu>(14, Exactness::exact, [](const op::Trilu& a, Expand& e) { expand(a, e); }),
  };
};

constexpr OpRules table[] = {rules<OneHot>(), rules<Trilu>()};

}  // namespace

std::span<const OpRules> one_hot_rules() { return table; }

}  // namespace cameo::ops
