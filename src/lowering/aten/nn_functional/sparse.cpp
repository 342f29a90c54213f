// torch.nn.functional, Sparse functions: embeddings.
#include <limits>

#include "lowering/axes.h"
#include "lowering/call_row.h"
#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

// Which rows the greatest elements of bags came from; 0 in a bag without rows. `bag` tells the bag of each row.
V rows_of_maxima(Lower& on, V at, V rows, V bag, Dim bags, V filled) {
  const V inside = on.unsqueeze(on.Equal(on.unsqueeze(iota(on, bags), {1}), on.unsqueeze(bag, {0})), {2});
  const V all =
      on.Where(inside, on.unsqueeze(rows, {0}), on.number_like(-std::numeric_limits<double>::infinity(), rows));
  return on.Where(filled, on.to(on.Gather(at, on.ArgMax(all, {.axis = 1, .keepdims = 0}), {.axis = 0}), DType::i64),
                  on.On::int_scalar(0));
}

// Rows of a table, gathered into bags that start at the offsets; the padding's row counts for nothing.
std::tuple<V, V, V, V> embedding_bag(Lower& on, V table, V at, V offsets, int64_t mode, const Opt<V>& weights,
                                     bool last_offset, const Opt<int64_t>& padding) {
  constexpr int64_t mean = 1, max = 2;
  if (on.rank(at) == 2) {
    offsets = on.Mul(iota(on, on.dim(at, 0)), on.int_scalar(on.dim(at, 1)));
    at = flat(on, at);
  } else if (last_offset) offsets = on.slice(offsets, 0, Dim(0), on.dim(offsets, 0) - Dim(1));
  const Dim bags = on.dim(offsets, 0);
  offsets = on.to(offsets, DType::i64);
  const V started = on.LessOrEqual(on.unsqueeze(offsets, {0}), on.unsqueeze(iota(on, on.dim(at, 0)), {1}));
  const V bag = on.Sub(reduce(on, Reduce::sum, on.to(started, DType::i64), {1}, false), on.On::int_scalar(1)),
          place = on.unsqueeze(bag, {1});
  V rows = on.Gather(table, at, {.axis = 0}), counted = on.full({on.dim(at, 0)}, Num(int64_t{1}), DType::i64);
  if (weights) rows = on.Mul(rows, on.unsqueeze(flat(on, *weights), {1}));
  const V lowest = on.number_like(mode == max ? -std::numeric_limits<double>::infinity() : 0, rows);
  if (padding) {
    const int64_t row = *padding;
    const V skipped =
        on.Equal(at, on.to(on.int_scalar(row < 0 ? on.dim(table, 0) + Dim(row) : Dim(row)), on.dtype(at)));
    rows = on.Where(on.unsqueeze(skipped, {1}), lowest, rows);
    counted = on.to(on.Not(skipped), DType::i64);
  }
  const V sizes = on.ScatterND(on.full({bags}, Num(int64_t{0}), DType::i64), place, counted, {.reduction = "add"});
  V y = on.ScatterND(on.expand(lowest, {bags, on.dim(table, 1)}), place, rows,
                     {.reduction = mode == max ? "max" : "add"});
  const V tall = on.unsqueeze(sizes, {1});
  if (mode == mean) y = on.Div(y, on.to(on.Max(std::vector<ValueId>{tall, on.On::int_scalar(1)}), on.dtype(y)));
  // PyTorch's quick kernel of plain sums does not say which bag rows are in.
  const bool quick = mode == 0 && !padding && (on.dtype(table) == DType::f32 || on.dtype(table) == DType::f16);
  if (mode != max) return {y, quick ? on.full({Dim(0)}, Num(int64_t{0}), DType::i64) : bag, sizes, sizes};
  const V filled = on.Greater(tall, on.On::int_scalar(0));
  return {on.Where(filled, y, on.number_like(0, y)), bag, sizes, rows_of_maxima(on, at, rows, bag, bags, filled)};
}

std::tuple<V, V, V, V> bag(Lower& on, V table, V at, V offsets, bool, int64_t mode, bool, Opt<V> weights, bool last,
                           int64_t padding) {
  const auto r = call_row(on, "aten::embedding_bag.padding_idx",
                          {Arg(table), Arg(at), Arg(offsets), Arg(false), Arg(Dim(mode)), Arg(false),
                           optional_arg(weights), Arg(last), padding < 0 ? Arg() : Arg(Dim(padding))});
  return {result(r, 0), result(r, 1), result(r, 2), result(r, 3)};
}

constexpr Row table[] = {
    {"aten::embedding", [](Lower& on, V w, V index) { return V(on.Gather(w, index, {.axis = 0})); }},
    {"aten::embedding_bag", [](Lower& on, V t, V at, V o, bool, int64_t mode, bool, Opt<V> w,
                               bool last) { return embedding_bag(on, t, at, o, mode, w, last, {}); }},
    {"aten::embedding_bag.padding_idx", [](Lower& on, V t, V at, V o, bool, int64_t mode, bool, Opt<V> w, bool last,
                                           Opt<int64_t> p) { return embedding_bag(on, t, at, o, mode, w, last, p); }},
    {"aten::_embedding_bag", fn<bag>},
    {"aten::_embedding_bag_forward_only", fn<bag>},
    {"aten::one_hot",
     [](Lower& on, V x, Dim classes) {
       const V depth =
           classes.is(-1)
               ? V(on.unsqueeze(on.Add(reduce(on, Reduce::max, x, on.all_axes(x), false), on.On::int_scalar(1)), {0}))
               : on.int_vector(Dims{classes});
       const V y = on.OneHot(at_least_rank(on, x, 1), depth, on.ints({0, 1}), {.axis = -1});
       return on.rank(x) == 0 ? on.squeeze(y, {0}) : y;
     }},
};

}  // namespace

std::span<const Row> nn_functional_sparse_rows() { return table; }

}  // namespace cameo::lowering
