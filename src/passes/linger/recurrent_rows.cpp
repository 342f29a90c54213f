// LSTM and GRU. ONNX's compute with a state that is not rounded between the steps; weights stay whole numbers.
#include "passes/linger/rewrite.h"

namespace cameo::passes::linger {

namespace {

// PyTorch's gates i, f, g, o are ONNX's i, o, f, c; r, z, n are z, r, h.
constexpr size_t lstm_order[] = {0, 3, 1, 2}, gru_order[] = {1, 0, 2};

// Blocks of rows in another order, with an axis for the direction in front.
Tensor reordered(const Tensor& t, std::span<const size_t> order) {
  const int64_t rows = t.shape()[0] / static_cast<int64_t>(order.size());
  const int64_t width = t.shape()[0] ? t.count() / t.shape()[0] : 0;
  std::vector<int64_t> index;
  for (const size_t block : order)
    for (int64_t i = 0; i < rows * width; ++i) index.push_back(static_cast<int64_t>(block) * rows * width + i);
  std::vector<int64_t> shape{1};
  shape.insert(shape.end(), t.shape().begin(), t.shape().end());
  return kernels::take(t, std::move(shape), index);
}

struct Operands {
  ValueId x, w, r, b, hidden, cell;
};

template <class A>
Operands operands_of(Rewrite& r, std::span<const size_t> order) {
  const A& a = r.attrs<A>();
  Operands out;
  size_t at = 1;
  if (a.has_hidden.value_or(0)) out.hidden = r.in(at++);
  if (order.size() == 4 && a.has_cell.value_or(0)) out.cell = r.in(at++);
  const auto move = [&](const Tensor& t) { return reordered(t, order); };
  out.x = r.real(0);
  if (a.batch_first.value_or(0)) out.x = r.on.Transpose(out.x, {.perm = std::vector<int64_t>{1, 0, 2}});
  out.w = r.real_constant(at, move);
  out.r = r.real_constant(at + 1, move);
  if (r.has(at + 2)) {
    const ValueId both[] = {r.real_constant(at + 2, move), r.real_constant(at + 3, move)};
    out.b = r.on.Concat(both, {.axis = 1});
  }
  return out;
}

template <class A>
ValueId sequence(Rewrite& r, ValueId y) {
  y = r.on.Squeeze(y, r.on.ints({1}));
  if (r.attrs<A>().batch_first.value_or(0)) y = r.on.Transpose(y, {.perm = std::vector<int64_t>{1, 0, 2}});
  return r.quantised(y);
}

Results lstm(Rewrite& r) {
  using A = op::linger::QLSTM;
  const Operands o = operands_of<A>(r, lstm_order);
  op::LSTM how;
  how.hidden_size = r.attrs<A>().hidden_size;
  how.direction = r.attrs<A>().go_forward.value_or(1) ? "forward" : "reverse";
  const auto y = r.on.LSTM(o.x, o.w, o.r, 3, o.b, {}, o.hidden, o.cell, {}, how);
  return {sequence<A>(r, y[0]), y[1], y[2]};
}

Results gru(Rewrite& r) {
  using A = op::linger::QGRU;
  const Operands o = operands_of<A>(r, gru_order);
  op::GRU how;
  how.hidden_size = r.attrs<A>().hidden_size;
  how.direction = r.attrs<A>().go_forward.value_or(1) ? "forward" : "reverse";
  how.linear_before_reset = 1;
  const auto y = r.on.GRU(o.x, o.w, o.r, 2, o.b, {}, o.hidden, how);
  return {sequence<A>(r, y[0]), y[1]};
}

constexpr Row rows[] = {{"QLSTM", lstm}, {"QGRU", gru}};

}  // namespace

std::span<const Row> recurrent_rows() { return rows; }

}  // namespace cameo::passes::linger
