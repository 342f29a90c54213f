// Trilu.
#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/on.h"
#include "ops/op_def.h"

namespace cameo::ops {

namespace {

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

constexpr OpRules table[] = {rules<Trilu>()};

}  // namespace

std::span<const OpRules> trilu_rules() { return table; }

}  // namespace cameo::ops
