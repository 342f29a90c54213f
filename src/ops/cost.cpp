#include "ops/cost.h"

#include <algorithm>

#include "support/error.h"

namespace cameo::ops {

namespace {

enum class Work : uint8_t { conv, conv_transpose, matmul, gemm, attention, recurrent, pool };
struct WorkRow {
  std::string_view op;
  Work work;
  size_t weight;  // which input
};
constexpr WorkRow rows[] = {
    {"Conv", Work::conv, 1},
    {"ConvInteger", Work::conv, 1},
    {"QLinearConv", Work::conv, 3},
    {"DeformConv", Work::conv, 1},
    {"ConvTranspose", Work::conv_transpose, 1},
    {"MatMul", Work::matmul, 0},
    {"MatMulInteger", Work::matmul, 0},
    {"QLinearMatMul", Work::matmul, 0},
    {"Gemm", Work::gemm, 0},
    {"Attention", Work::attention, 1},
    {"LSTM", Work::recurrent, 1},
    {"GRU", Work::recurrent, 1},
    {"RNN", Work::recurrent, 1},
    {"MaxPool", Work::pool, 0},
    {"AveragePool", Work::pool, 0},
    {"GlobalAveragePool", Work::pool, 0},
    {"GlobalMaxPool", Work::pool, 0},
    {"QConv1d", Work::conv, 1},
    {"QConv2d", Work::conv, 1},
    {"QConvTranspose1d", Work::conv_transpose, 1},
    {"QConvTranspose2d", Work::conv_transpose, 1},
    {"QLinear", Work::matmul, 0},
    {"QMatmul", Work::matmul, 0},
    {"QBmm", Work::matmul, 0},
    {"QLSTM", Work::recurrent, 1},
    {"QGRU", Work::recurrent, 1},
    {"QAvgPool1d", Work::pool, 0},
    {"QAvgPool2d", Work::pool, 0},
    {"QGlobalAveragePool2d", Work::pool, 0},
};

const WorkRow* row_of(const Node& n) {
  const bool known = !n.op->is_opaque() && (n.op->domain.empty() || n.op->domain == "linger");
  const auto row =
      std::find_if(std::begin(rows), std::end(rows), [&](const WorkRow& r) { return known && n.op->name == r.op; });
  return row == std::end(rows) ? nullptr : row;
}

const Shape* shape_of(const Graph& g, ValueId v) { return v && g[v].fact.has_rank() ? &g[v].fact.shape() : nullptr; }

// Elements of a filter per output channel (or input channel, for transposed ones).
Dim filter_size(const Shape& w) { return element_count(Shape(w.begin() + 1, w.end())); }

// Keys and values before those of this call count as well.
std::optional<Dim> attention_macs(const Graph& g, NodeId n, const Shape& q, const Shape& k, const Shape& y) {
  if (k.size() < 3) return std::nullopt;
  Dim keys = k[k.size() - 2];
  constexpr size_t past_keys = 4;
  if (g.input(n, past_keys)) {
    const Shape* past = shape_of(g, g.input(n, past_keys));
    if (!past || past->size() != 4) return std::nullopt;
    keys = keys + (*past)[2];
  }
  return (element_count(q) + element_count(y)) * keys;
}

std::optional<Dim> macs_of(const Graph& g, NodeId n, const WorkRow& row) {
  const Shape *a = shape_of(g, g.input(n, 0)), *w = shape_of(g, g.input(n, row.weight)),
              *r = shape_of(g, g.input(n, 2));
  const Shape* y = g[n].outputs.empty() ? nullptr : shape_of(g, g[n].outputs[0]);
  if (!a || !w || a->empty() || w->empty()) return std::nullopt;
  switch (row.work) {
    case Work::conv: return y ? std::optional(element_count(*y) * filter_size(*w)) : std::nullopt;
    case Work::conv_transpose: return element_count(*a) * filter_size(*w);
    case Work::matmul: return y ? std::optional(element_count(*y) * a->back()) : std::nullopt;
    case Work::gemm: return y && !y->empty() ? std::optional(element_count(*a) * y->back()) : std::nullopt;
    case Work::attention: return y ? attention_macs(g, n, *a, *w, *y) : std::nullopt;
    case Work::recurrent:
      if (!r || a->size() != 3) return std::nullopt;
      return (*a)[0] * (*a)[1] * (element_count(*w) + element_count(*r));
    case Work::pool: break;
  }
  return std::nullopt;
}

// An element of a window takes about four operations: compared or added, padding told apart.
std::optional<Dim> pool_operations(const Graph& g, NodeId n) {
  const Shape *x = shape_of(g, g.input(n, 0)), *y = shape_of(g, g[n].outputs[0]);
  if (!x || !y) return std::nullopt;
  const Dim in = element_count(*x), out = element_count(*y);
  if (!in.is_literal() || !out.is_literal()) return std::nullopt;
  return Dim(4) * Dim(std::max(in.literal(), out.literal()));
}

}  // namespace

bool multiplies(const Node& n) {
  const WorkRow* row = row_of(n);
  return row && row->work != Work::pool;
}

std::optional<Dim> macs(const Graph& g, NodeId n) {
  const WorkRow* row = row_of(g[n]);
  return row ? macs_of(g, n, *row) : std::nullopt;
}

std::optional<double> operations(const Graph& g, NodeId n) {
  const WorkRow* row = row_of(g[n]);
  if (!row || g[n].outputs.empty()) return std::nullopt;
  try {
    const auto count = row->work == Work::pool ? pool_operations(g, n) : macs_of(g, n, *row);
    if (count && count->is_literal()) return static_cast<double>(count->literal());
  } catch (const Error&) {  // more than 64 bits hold
  }
  return std::nullopt;
}

std::optional<uint64_t> result_bytes(const Graph& g, NodeId n) {
  uint64_t total = 0;
  for (const ValueId v : g[n].outputs) {
    if (!g.used(v)) continue;
    const Fact& f = g[v].fact;
    const auto shape = f.has_rank() ? known_shape(f.shape()) : std::nullopt;
    if (!shape || f.dtype() == DType::undefined || f.dtype() == DType::string) return std::nullopt;
    total += packed_bytes(f.dtype(), element_count(*shape));
  }
  return total;
}

uint64_t constant_bytes(const Graph& g, ValueId v) {
  if (g[v].weight) return g[v].synthetic ? 0 : g[v].weight->byte_size();
  const Tensor* t = g[v].fact.tensor();
  return t && t->dtype() != DType::string ? packed_bytes(t->dtype(), t->count()) : 0;
}

}  // namespace cameo::ops
