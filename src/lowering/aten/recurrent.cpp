// LSTM, GRU and RNN layers.
#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo {

namespace {

enum class Cell : uint8_t { lstm, gru, rnn_tanh, rnn_relu };

struct Layer {
  Cell cell;
  bool has_biases, bidirectional;
  int64_t hidden = 0;
};

// torch stacks the gates as i f g o (LSTM) and r z n (GRU); ONNX wants i o f g and z r n.
V gates_in_order(Lower& on, V w, Cell cell) {
  static constexpr int64_t lstm[] = {0, 3, 1, 2}, gru[] = {1, 0, 2};
  const std::span<const int64_t> order = cell == Cell::lstm ? std::span<const int64_t>(lstm) : cell == Cell::gru ? std::span<const int64_t>(gru) : std::span<const int64_t>();
  if (order.empty()) return w;
  const Dim each = floor_div(on.dim(w, 0), Dim(static_cast<int64_t>(order.size())));
  Vs parts;
  for (const int64_t i : order) parts.push_back(on.slice(w, 0, each * Dim(i), each * Dim(i + 1)));
  return on.concat(parts, 0);
}

V stacked(Lower& on, const Vs& parts) {
  Vs lifted;
  for (const V v : parts) lifted.push_back(on.unsqueeze(v, {0}));
  return on.concat(lifted, 0);
}

struct Result {
  V output, h, c;
};

// One layer, both directions. x is [time, batch, features]; h and c are [directions, batch, hidden].
Result run_layer(Lower& on, const Layer& l, V x, std::span<const V> weights, V h, V c, V lengths) {
  const int64_t directions = l.bidirectional ? 2 : 1;
  const size_t per = l.has_biases ? 4 : 2;
  Vs w, r, b;
  for (int64_t d = 0; d < directions; ++d) {
    const auto mine = weights.subspan(static_cast<size_t>(d) * per, per);
    w.push_back(gates_in_order(on, mine[0], l.cell));
    r.push_back(gates_in_order(on, mine[1], l.cell));
    if (l.has_biases) b.push_back(on.concat({gates_in_order(on, mine[2], l.cell), gates_in_order(on, mine[3], l.cell)}, 0));
  }
  const std::string direction = l.bidirectional ? "bidirectional" : "forward";
  const V bias = l.has_biases ? stacked(on, b) : V();
  std::vector<ValueId> out;
  if (l.cell == Cell::lstm)
    out = on.LSTM(x, stacked(on, w), stacked(on, r), 3, bias, lengths, h, c, {}, {.direction = direction, .hidden_size = l.hidden});
  else if (l.cell == Cell::gru)
    out = on.GRU(x, stacked(on, w), stacked(on, r), 2, bias, lengths, h, {.direction = direction, .hidden_size = l.hidden, .linear_before_reset = 1});
  else {
    const std::string f = l.cell == Cell::rnn_relu ? "Relu" : "Tanh";
    out = on.RNN(x, stacked(on, w), stacked(on, r), 2, bias, lengths, h, {.activations = std::vector<std::string>(static_cast<size_t>(directions), f), .direction = direction, .hidden_size = l.hidden});
  }
  // [time, directions, batch, hidden] -> [time, batch, directions * hidden]
  V y = out[0];
  if (directions == 1) y = on.squeeze(y, {1});
  else y = on.reshape(on.transpose(y, {0, 2, 1, 3}), {on.dim(x, 0), on.dim(x, 1), Dim(directions * l.hidden)});
  return {y, out[1], l.cell == Cell::lstm ? V(out[2]) : V()};
}

Result run(Lower& on, Cell cell, V x, V h0, V c0, const Vs& weights, bool has_biases, int64_t layers, double dropout, bool train, bool bidirectional, bool batch_first) {
  if (train && dropout > 0 && layers > 1) unsupported("a recurrent layer with dropout in training mode", "export the model in eval mode");
  const bool unbatched = on.rank(x) == 2;
  if (unbatched) {
    x = on.unsqueeze(x, {batch_first ? 0 : 1});
    h0 = on.unsqueeze(h0, {1});
    if (c0.valid()) c0 = on.unsqueeze(c0, {1});
  }
  if (batch_first) x = on.transpose(x, {1, 0, 2});
  const int64_t directions = bidirectional ? 2 : 1;
  const size_t per_layer = (has_biases ? 4u : 2u) * static_cast<size_t>(directions);
  const Opt<int64_t> hidden = on.known_dim(weights[1], 1);
  if (!hidden || weights.size() != per_layer * static_cast<size_t>(layers)) unsupported("a recurrent layer with projections or unknown sizes");
  Vs hs, cs;
  for (int64_t i = 0; i < layers; ++i) {
    const auto part = [&](V v) { return v.valid() ? on.slice(v, 0, Dim(i * directions), Dim((i + 1) * directions)) : V(); };
    const Result r = run_layer(on, {cell, has_biases, bidirectional, *hidden}, x, std::span<const V>(weights).subspan(static_cast<size_t>(i) * per_layer, per_layer), part(h0), part(c0), {});
    x = r.output;
    hs.push_back(r.h);
    if (r.c.valid()) cs.push_back(r.c);
  }
  if (batch_first) x = on.transpose(x, {1, 0, 2});
  Result out{x, on.concat(hs, 0), cs.empty() ? V() : on.concat(cs, 0)};
  if (unbatched) {
    out.output = on.squeeze(out.output, {batch_first ? 0 : 1});
    out.h = on.squeeze(out.h, {1});
    if (out.c.valid()) out.c = on.squeeze(out.c, {1});
  }
  return out;
}

template <Cell C>
std::tuple<V, V> plain(Lower& on, V x, V h, Vs weights, bool biases, int64_t layers, double dropout, bool train, bool bidirectional, bool batch_first) {
  const Result r = run(on, C, x, h, {}, weights, biases, layers, dropout, train, bidirectional, batch_first);
  return {r.output, r.h};
}

constexpr Row table[] = {
    {"aten::lstm.input", [](Lower& on, V x, Vs hx, Vs weights, bool biases, int64_t layers, double dropout, bool train, bool bidirectional, bool batch_first) {
       const Result r = run(on, Cell::lstm, x, hx[0], hx[1], weights, biases, layers, dropout, train, bidirectional, batch_first);
       return std::tuple<V, V, V>{r.output, r.h, r.c};
     }},
    {"aten::gru.input", fn<plain<Cell::gru>>},
    {"aten::rnn_tanh.input", fn<plain<Cell::rnn_tanh>>},
    {"aten::rnn_relu.input", fn<plain<Cell::rnn_relu>>},
};

}  // namespace

std::span<const Row> recurrent_rows() { return table; }

}  // namespace cameo
