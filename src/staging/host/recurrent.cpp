// Recurrent layers and cells whose weights are int8 or f16, as torch.ao.quantization.quantize_dynamic makes them.
#include <algorithm>

#include "lowering/aten/nn_functional/recurrent.h"
#include "staging/host/tables.h"
#include "staging/machine/quantized.h"
#include "staging/joins/staged_list.h"

namespace cameo::staging {

namespace {

bool has_ints(Machine& s, const Value& weight) {
  const auto* t = weight.as<TensorRef>();
  return t && s.quantization(s.read(*t));
}

// Where the list of cells stands: after the state, and after the batch sizes of packed sequences. 0: nowhere.
size_t cells_at(const HostCall& c) {
  for (const size_t i : {size_t{2}, size_t{3}})
    if (i < c.size() && c[i].is<ListRef>() && !staged_of(c.s, c[i]) && !c.s.items(c[i]).empty() &&
        c.s.items(c[i])[0].is<ObjectRef>())
      return i;
  return 0;
}

// The weights in the order of the float operator.
std::vector<Value> weights_of(Machine& s, const std::vector<Value>& cells) {
  std::vector<Value> out;
  for (const Value& cell : cells) {
    const auto both = packed_cell(s, cell);
    for (const Packed& p : both) out.push_back(p.weight);
    for (const Packed& p : both)
      if (!p.bias.is_none()) out.push_back(p.bias);
  }
  return out;
}

// The float operator: its arguments are the same but for the weights.
template <char const* Op>
Results layer(HostCall& c) {
  const size_t at = cells_at(c);
  if (at == 0) return std::nullopt;
  std::vector<Value> args = c.args;
  const std::vector<Value> cells = c.s.items(args[at]), weights = weights_of(c.s, cells);
  args[at] = c.s.list(weights);
  if (at + 1 < args.size()) args[at + 1] = weights.size() == 4 * cells.size();
  if (std::any_of(weights.begin(), weights.end(), [&](const Value& w) { return has_ints(c.s, w); }))
    c.s.on.note("lower.float-activations",
                "only the weights of this layer are int8 in the model: PyTorch also rounds its inputs and states to 8 "
                "bits in every call, so its results differ by that rounding");
  const Machine::FloatOnly only(c.s);
  return c.s.call_op("aten", Op, {std::move(args), {}});
}

// A linear layer of a cell. Before a product with ints PyTorch rounds the other operand by its own range, to 7 of the 8
// bits.
Value product(HostCall& c, const Value& x, const Value& layer) {
  const Packed p = packed(c.s, layer);
  const Value in =
      has_ints(c.s, p.weight) ? c.s.tensor(quantized_by_range(c.s, c.s.read(x.need<TensorRef>()), true)) : x;
  return plain(c, "linear", {in, p.weight, p.bias});
}
struct Products {
  Value of_input, of_state;
  const Value* poison() const {
    return of_input.is<Poison>() ? &of_input : of_state.is<Poison>() ? &of_state : nullptr;
  }
};
Products products(HostCall& c, const Value& state) {
  const Value of_input = product(c, c[0], c[2]);
  return {of_input, product(c, state, c[3])};
}
V read(HostCall& c, const Value& v) { return c.s.read(v.need<TensorRef>()); }

Results lstm_cell(HostCall& c) {
  if (c.size() < 4) return std::nullopt;
  const std::vector<Value> states = c.s.items(c[1]);
  if (states.size() != 2 || !c[0].is<TensorRef>() || !states[0].is<TensorRef>() || !states[1].is<TensorRef>())
    return std::nullopt;
  const Products p = products(c, states[0]);
  if (const Value* poison = p.poison()) return std::vector<Value>(2, *poison);
  const auto [h, cell] = lstm_step(c.s.on, read(c, p.of_input), read(c, p.of_state), read(c, states[1]));
  return std::vector<Value>{c.s.tensor(h), c.s.tensor(cell)};
}

V rnn_tanh_step(Lower& on, V of_input, V of_state, V) { return on.Tanh(on.Add(of_input, of_state)); }
V rnn_relu_step(Lower& on, V of_input, V of_state, V) { return on.Relu(on.Add(of_input, of_state)); }

template <V (*Step)(Lower&, V, V, V)>
Results cell(HostCall& c) {
  if (c.size() < 4 || !c[0].is<TensorRef>() || !c[1].is<TensorRef>()) return std::nullopt;
  const Products p = products(c, c[1]);
  if (const Value* poison = p.poison()) return one(*poison);
  return one(c.s.tensor(Step(c.s.on, read(c, p.of_input), read(c, p.of_state), read(c, c[1]))));
}

constexpr char lstm[] = "lstm", gru[] = "gru";

constexpr HostRow table[] = {
    {"aten::quantized_lstm", layer<lstm>},
    {"aten::quantized_gru", layer<gru>},
    {"quantized::quantized_lstm_cell_dynamic", lstm_cell},
    {"quantized::quantized_gru_cell_dynamic", cell<gru_step>},
    {"quantized::quantized_rnn_tanh_cell_dynamic", cell<rnn_tanh_step>},
    {"quantized::quantized_rnn_relu_cell_dynamic", cell<rnn_relu_step>},
};

}  // namespace

std::span<const HostRow> host_recurrent_rows() { return table; }

}  // namespace cameo::staging
