// LSTM, GRU and RNN layers.
#include "lowering/aten/nn_functional/recurrent.h"

#include "lowering/forms.h"
#include "lowering/loop.h"
#include "lowering/narrow.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

enum class Cell : uint8_t { lstm, gru, rnn_tanh, rnn_relu };

struct Layer {
  Cell cell;
  bool has_biases, bidirectional;
  int64_t hidden = 0;
  bool projected = false, backward = false;  // backward: one direction, from the last step to the first

  size_t per_direction() const { return (has_biases ? 4u : 2u) + (projected ? 1u : 0u); }
};

// torch stacks the gates as i f g o (LSTM) and r z n (GRU); ONNX wants i o f g and z r n.
V gates_in_order(Lower& on, V w, Cell cell) {
  static constexpr int64_t lstm[] = {0, 3, 1, 2}, gru[] = {1, 0, 2};
  const std::span<const int64_t> order = cell == Cell::lstm  ? std::span<const int64_t>(lstm)
                                         : cell == Cell::gru ? std::span<const int64_t>(gru)
                                                             : std::span<const int64_t>();
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

// The weights of all directions: [directions, gates * hidden, features].
V laid_out(Lower& on, const Vs& weights, Cell cell) {
  Vs ordered;
  for (const V w : weights) ordered.push_back(gates_in_order(on, w, cell));
  return stacked(on, ordered);
}

// Scales or zero points of all directions: one of each direction, or of each row.
V laid_out(Lower& on, const std::vector<NarrowWeight>& weights, V NarrowWeight::*part, Cell cell) {
  Vs all;
  for (const NarrowWeight& w : weights)
    all.push_back(w.axis < 0 ? on.unsqueeze(w.*part, {0}) : gates_in_order(on, w.*part, cell));
  return on.concat(all, 0);
}

// Those that are stored in a smaller type are rearranged as they are stored.
V laid_out(Lower& on, const std::vector<NarrowWeight>& weights, Cell cell) {
  Vs parts;
  for (const NarrowWeight& w : weights) parts.push_back(w.data);
  const V data = laid_out(on, parts, cell);
  const NarrowWeight& first = weights[0];
  const bool per_tensor = first.axis < 0;
  if (!first.scale.valid() || (per_tensor && weights.size() == 1))
    return widened(on, {data, first.scale, first.zero_point});
  const V scale = laid_out(on, weights, &NarrowWeight::scale, cell),
          zero_point = laid_out(on, weights, &NarrowWeight::zero_point, cell);
  if (per_tensor) return widened(on, {data, scale, zero_point, 0});
  const Dims shape = on.shape(data);
  return on.reshape(widened(on, {on.reshape(data, {shape[0] * shape[1], shape[2]}), scale, zero_point, 0}), shape);
}

// How all of them are stored; none where they are stored as they are used, or each in its own way.
Opt<std::vector<NarrowWeight>> narrow_weights(Lower& on, const Vs& weights) {
  std::vector<NarrowWeight> out;
  for (const V w : weights) {
    const auto narrow = on.rank(w) == 2 ? narrow_weight(on, w) : std::nullopt;
    if (!narrow || narrow->axis > 0) return std::nullopt;
    out.push_back(*narrow);
    if (narrow->axis != out[0].axis || narrow->scale.valid() != out[0].scale.valid()) return std::nullopt;
  }
  return out;
}

V layer_weights(Lower& on, const Vs& weights, Cell cell) {
  const auto narrow = narrow_weights(on, weights);
  if (!narrow) return laid_out(on, weights, cell);
  const InMain here(on);
  return laid_out(on, *narrow, cell);
}

struct Result {
  V output, h, c;
};

// An LSTM whose hidden state is a projection has no operator: a Loop over time, one direction.
Result run_projected(Lower& on, const Layer& l, V x, std::span<const V> w, V h, V c, bool backward) {
  V gates = on.MatMul(x, on.transpose(w[0], {1, 0}));
  if (l.has_biases) gates = on.Add(gates, on.Add(w[2], w[3]));
  const Dim time = on.dim(x, 0), batch = on.dim(x, 1), out = on.dim(w.back(), 0);
  const V recurrent = on.transpose(w[1], {1, 0}), projection = on.transpose(w.back(), {1, 0});
  const V last = on.int_scalar(time - Dim(1));
  const Vs end =
      loop(on, on.int_scalar(time), {h, c, on.full({time, batch, out}, Num(0.0), on.dtype(x))},
           [&](V turn, const Vs& s) -> Vs {
             const V t = backward ? V(on.Sub(last, turn)) : turn;
             const auto parts = on.Split(on.Add(on.Gather(gates, t, {.axis = 0}), on.MatMul(s[0], recurrent)), 4,
                                         on.ints({l.hidden, l.hidden, l.hidden, l.hidden}), {.axis = 1});
             const V cell = on.Add(on.Mul(on.Sigmoid(parts[1]), s[1]), on.Mul(on.Sigmoid(parts[0]), on.Tanh(parts[2])));
             const V hidden = on.MatMul(on.Mul(on.Sigmoid(parts[3]), on.Tanh(cell)), projection);
             return {hidden, cell, on.ScatterND(s[2], on.unsqueeze(t, {0, 1}), on.unsqueeze(hidden, {0}))};
           });
  return {end[2], end[0], end[1]};
}

Result run_projected_layer(Lower& on, const Layer& l, V x, std::span<const V> weights, V h, V c) {
  Vs y, hs, cs;
  for (int64_t d = 0; d < (l.bidirectional ? 2 : 1); ++d) {
    const Result r =
        run_projected(on, l, x, weights.subspan(static_cast<size_t>(d) * l.per_direction(), l.per_direction()),
                      on.gather_scalar(h, 0, Dim(d)), on.gather_scalar(c, 0, Dim(d)), d == 1);
    y.push_back(r.output), hs.push_back(r.h), cs.push_back(r.c);
  }
  return {on.concat(y, 2), stacked(on, hs), stacked(on, cs)};
}

// One layer, both directions. x is [time, batch, features]; h and c are [directions, batch, hidden].
Result run_layer(Lower& on, const Layer& l, V x, std::span<const V> weights, V h, V c, V lengths) {
  if (l.projected && lengths.valid()) unsupported("an LSTM with projections over sequences of different lengths");
  if (l.projected) return run_projected_layer(on, l, x, weights, h, c);
  const int64_t directions = l.bidirectional ? 2 : 1;
  const size_t per = l.per_direction();
  Vs w, r, b;
  for (int64_t d = 0; d < directions; ++d) {
    const auto mine = weights.subspan(static_cast<size_t>(d) * per, per);
    w.push_back(mine[0]);
    r.push_back(mine[1]);
    if (l.has_biases)
      b.push_back(on.concat({gates_in_order(on, mine[2], l.cell), gates_in_order(on, mine[3], l.cell)}, 0));
  }
  const std::string direction = l.bidirectional ? "bidirectional" : l.backward ? "reverse" : "forward";
  const V bias = l.has_biases ? stacked(on, b) : V();
  const V of_input = layer_weights(on, w, l.cell), of_state = layer_weights(on, r, l.cell);
  std::vector<ValueId> out;
  if (l.cell == Cell::lstm)
    out = on.LSTM(x, of_input, of_state, 3, bias, lengths, h, c, {}, {.direction = direction, .hidden_size = l.hidden});
  else if (l.cell == Cell::gru)
    out = on.GRU(x, of_input, of_state, 2, bias, lengths, h,
                 {.direction = direction, .hidden_size = l.hidden, .linear_before_reset = 1});
  else {
    const std::string f = l.cell == Cell::rnn_relu ? "Relu" : "Tanh";
    out = on.RNN(x, of_input, of_state, 2, bias, lengths, h,
                 {.activations = std::vector<std::string>(static_cast<size_t>(directions), f),
                  .direction = direction,
                  .hidden_size = l.hidden});
  }
  // [time, directions, batch, hidden] -> [time, batch, directions * hidden]
  V y = out[0];
  if (directions == 1) y = on.squeeze(y, {1});
  else y = on.reshape(on.transpose(y, {0, 2, 1, 3}), {on.dim(x, 0), on.dim(x, 1), Dim(directions * l.hidden)});
  return {y, out[1], l.cell == Cell::lstm ? V(out[2]) : V()};
}

Result run(Lower& on, Cell cell, V x, V h0, V c0, const Vs& weights, bool has_biases, int64_t layers, double dropout,
           bool train, bool bidirectional, bool batch_first, V lengths = {}) {
  if (train && dropout > 0 && layers > 1)
    unsupported("a recurrent layer with dropout in training mode", "export the model in eval mode");
  const int64_t directions = bidirectional ? 2 : 1;
  const auto count = static_cast<int64_t>(weights.size());
  const bool sensible = layers >= 1 && layers <= count;
  const int64_t cells = sensible ? directions * layers : 0, plain = (has_biases ? 4 : 2) * cells;
  if (!sensible || (count != plain && (cell != Cell::lstm || count != plain + cells)))
    unsupported(cat("a recurrent layer with ", layers, " layers and ", count, " weights"),
                "this archive is damaged, or of a PyTorch that Cameo does not know");
  const bool unbatched = on.rank(x) == 2;
  if (unbatched) {
    x = on.unsqueeze(x, {batch_first ? 0 : 1});
    h0 = on.unsqueeze(h0, {1});
    if (c0.valid()) c0 = on.unsqueeze(c0, {1});
  }
  if (batch_first) x = on.transpose(x, {1, 0, 2});
  const int64_t gates = cell == Cell::lstm ? 4 : cell == Cell::gru ? 3 : 1;
  const int64_t hidden = known_size(on, weights[1], 0, "a recurrent layer") / gates;
  const Layer layer{cell, has_biases, bidirectional, hidden, count != plain};
  const size_t per_layer = layer.per_direction() * static_cast<size_t>(directions);
  Vs hs, cs;
  for (int64_t i = 0; i < layers; ++i) {
    const auto part = [&](V v) {
      return v.valid() ? on.slice(v, 0, Dim(i * directions), Dim((i + 1) * directions)) : V();
    };
    const Result r =
        run_layer(on, layer, x, std::span<const V>(weights).subspan(static_cast<size_t>(i) * per_layer, per_layer),
                  part(h0), part(c0), lengths);
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
std::tuple<V, V> plain(Lower& on, V x, V h, Vs weights, bool biases, int64_t layers, double dropout, bool train,
                       bool bidirectional, bool batch_first) {
  const Result r = run(on, C, x, h, {}, weights, biases, layers, dropout, train, bidirectional, batch_first);
  return {r.output, r.h};
}

// Packed data is time by time what the sequences that last so long have; batch sizes are how many they are.
struct PackedData {
  V data, sizes;
};

PackedData packed(Lower& on, V padded, V lengths) {
  const Dim time = on.dim(padded, 0), batch = on.dim(padded, 1);
  lengths = on.to(lengths, DType::i64);
  const V alive = on.Less(on.unsqueeze(iota(on, time), {1}), on.unsqueeze(lengths, {0}));
  const V data = on.Compress(on.reshape(padded, {time * batch, on.dim(padded, 2)}), on.reshape(alive, {time * batch}),
                             {.axis = 0});
  on.remember_packed(data, {padded, lengths});
  const V counts = reduce(on, Reduce::sum, on.to(alive, DType::i64), {1}, false);
  return {data, on.Compress(counts, on.Greater(counts, on.On::int_scalar(0)), {.axis = 0})};
}

Lower::Packed unpacked(Lower& on, V data) {
  const auto* p = on.packed_of(data);
  if (!p)
    unsupported("packed sequences whose data was changed after packing",
                "pad the sequences, or change the data before packing");
  return *p;
}

std::tuple<V, V> pad_packed(Lower& on, V data, V, bool batch_first, Num fill, Dim total) {
  const Lower::Packed p = unpacked(on, data);
  V y = p.padded;
  if (!fill.is(0))
    y = on.Where(on.unsqueeze(on.Less(on.unsqueeze(iota(on, on.dim(y, 0)), {1}), on.unsqueeze(p.lengths, {0})), {2}), y,
                 on.scalar_like(fill, y));
  // A total that is data is how long the longest sequence is.
  if (!total.is_literal()) y = on.slice(y, 0, Dim(0), total);
  else if (total.literal() <= 0) y = on.slice(y, 0, Dim(0), on.int_of(reduce(on, Reduce::max, p.lengths, {0}, false)));
  else if (on.dim(y, 0) != total) {
    const Dim have(known_size(on, y, 0, "pad_packed_sequence"));
    y = total.literal() < have.literal()
            ? on.slice(y, 0, Dim(0), total)
            : on.concat({y, on.full({total - have, on.dim(y, 1), on.dim(y, 2)}, fill, on.dtype(y))}, 0);
  }
  return {batch_first ? on.transpose(y, {1, 0, 2}) : y, p.lengths};
}

Result run_packed(Lower& on, Cell cell, V data, V h, V c, const Vs& weights, bool biases, int64_t layers,
                  double dropout, bool train, bool bidirectional) {
  const Lower::Packed p = unpacked(on, data);
  Result r = run(on, cell, p.padded, h, c, weights, biases, layers, dropout, train, bidirectional, false,
                 on.to(p.lengths, DType::i32));
  r.output = packed(on, r.output, p.lengths).data;
  return r;
}

template <Cell C>
std::tuple<V, V> plain_packed(Lower& on, V data, V, V h, Vs weights, bool biases, int64_t layers, double dropout,
                              bool train, bool bidirectional) {
  const Result r = run_packed(on, C, data, h, {}, weights, biases, layers, dropout, train, bidirectional);
  return {r.output, r.h};
}

// One layer in one direction: what decomposed programs have instead of an LSTM. The last result is a workspace of
// training.
std::tuple<V, V, V, V> one_layer(Lower& on, V x, V w0, V w1, V w2, V w3, V h, V c, bool reverse, Ints, int64_t mode,
                                 int64_t hidden, int64_t layers, bool biases, bool bidirectional, bool batch_first,
                                 bool train) {
  constexpr int64_t lstm_mode = 2;
  if (mode != lstm_mode || layers != 1 || bidirectional || batch_first || train)
    unsupported("mkldnn_rnn_layer of another kind than one layer of an LSTM, time first, not in training");
  Vs weights{w0, w1};
  if (biases) weights.push_back(w2), weights.push_back(w3);
  const Result r = run_layer(on, Layer{Cell::lstm, biases, false, hidden, false, reverse}, x, weights, h, c, {});
  return {r.output, r.h, r.c, on.full({Dim(0)}, Num(int64_t{0}), DType::u8)};
}

// One step of a cell.
V projected(Lower& on, V x, V w, const Opt<V>& b) { return linear(on, x, w, b); }

void need_states(const Vs& hx) {
  if (hx.size() < 2) unsupported("an LSTM without its two states");
}

std::tuple<V, V> lstm_cell(Lower& on, V x, Vs hx, V wi, V wh, Opt<V> bi, Opt<V> bh) {
  if (hx.size() != 2) unsupported(cat("an LSTM cell with ", hx.size(), " states"));
  const V of_input = projected(on, x, wi, bi), of_state = projected(on, hx[0], wh, bh);
  return lstm_step(on, of_input, of_state, hx[1]);
}

V gru_cell(Lower& on, V x, V h, V wi, V wh, Opt<V> bi, Opt<V> bh) {
  const V of_input = projected(on, x, wi, bi), of_state = projected(on, h, wh, bh);
  return gru_step(on, of_input, of_state, h);
}

template <bool Relu>
V rnn_cell(Lower& on, V x, V h, V wi, V wh, Opt<V> bi, Opt<V> bh) {
  const V of_input = projected(on, x, wi, bi), y = on.Add(of_input, projected(on, h, wh, bh));
  return Relu ? on.Relu(y) : on.Tanh(y);
}

constexpr Row table[] = {
    {"aten::lstm.input",
     [](Lower& on, V x, Vs hx, Vs weights, bool biases, int64_t layers, double dropout, bool train, bool bidirectional,
        bool batch_first) {
       need_states(hx);
       const Result r =
           run(on, Cell::lstm, x, hx[0], hx[1], weights, biases, layers, dropout, train, bidirectional, batch_first);
       return std::tuple<V, V, V>{r.output, r.h, r.c};
     }},
    {"aten::lstm.data",
     [](Lower& on, V data, V, Vs hx, Vs weights, bool biases, int64_t layers, double dropout, bool train,
        bool bidirectional) {
       need_states(hx);
       const Result r =
           run_packed(on, Cell::lstm, data, hx[0], hx[1], weights, biases, layers, dropout, train, bidirectional);
       return std::tuple<V, V, V>{r.output, r.h, r.c};
     }},
    {"aten::mkldnn_rnn_layer", fn<one_layer>},
    {"aten::gru.input", fn<plain<Cell::gru>>},
    {"aten::gru.data", fn<plain_packed<Cell::gru>>},
    {"aten::rnn_tanh.input", fn<plain<Cell::rnn_tanh>>},
    {"aten::rnn_tanh.data", fn<plain_packed<Cell::rnn_tanh>>},
    {"aten::rnn_relu.input", fn<plain<Cell::rnn_relu>>},
    {"aten::rnn_relu.data", fn<plain_packed<Cell::rnn_relu>>},
    {"aten::_pack_padded_sequence",
     [](Lower& on, V x, V lengths, bool batch_first) {
       const PackedData p = packed(on, batch_first ? on.transpose(x, {1, 0, 2}) : x, lengths);
       return std::tuple<V, V>{p.data, p.sizes};
     }},
    {"aten::_pad_packed_sequence", fn<pad_packed>},
    {"aten::lstm_cell", fn<lstm_cell>},
    {"aten::gru_cell", fn<gru_cell>},
    {"aten::rnn_tanh_cell", fn<rnn_cell<false>>},
    {"aten::rnn_relu_cell", fn<rnn_cell<true>>},
};

}  // namespace

std::tuple<V, V> lstm_step(Lower& on, V of_input, V of_state, V c) {
  const V all = on.Add(of_input, of_state);
  const int64_t axis = on.rank(all) - 1, n = known_size(on, c, -1, "an LSTM cell");
  const auto parts = on.Split(all, 4, on.ints({n, n, n, n}), {.axis = axis});
  const V next = on.Add(on.Mul(on.Sigmoid(parts[1]), c), on.Mul(on.Sigmoid(parts[0]), on.Tanh(parts[2])));
  return {on.Mul(on.Sigmoid(parts[3]), on.Tanh(next)), next};
}

V gru_step(Lower& on, V of_input, V of_state, V h) {
  const int64_t n = known_size(on, h, -1, "a GRU cell"), axis = on.rank(h) - 1;
  const auto a = on.Split(of_input, 3, on.ints({n, n, n}), {.axis = axis}),
             b = on.Split(of_state, 3, on.ints({n, n, n}), {.axis = axis});
  const V r = on.Sigmoid(on.Add(a[0], b[0])), z = on.Sigmoid(on.Add(a[1], b[1])),
          fresh = on.Tanh(on.Add(a[2], on.Mul(r, b[2])));
  return on.Add(fresh, on.Mul(z, on.Sub(h, fresh)));
}

std::span<const Row> nn_functional_recurrent_rows() { return table; }

}  // namespace cameo::lowering
