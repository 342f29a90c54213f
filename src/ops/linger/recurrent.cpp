// linger's LSTM and GRU: one layer, one direction. Operands: the input, states where has_hidden and has_cell say so,
// both weights, and both biases or none. Gates are sums of whole numbers; sigmoid and tanh give steps of 2^-15, the
// cell is kept in steps of 2^-27, and the hidden state is quantised after every step by scale_h.
#include <algorithm>
#include <cmath>

#include "ops/families.h"
#include "ops/linger/number.h"

namespace cameo::ops {

namespace linger {

namespace {

constexpr size_t absent = SIZE_MAX;

// Where the operands stand.
struct Places {
  size_t hidden = absent, cell = absent, w = 1, r = 2, bias = absent;
};

template <class A>
Places places_of(const A& a, size_t operands) {
  constexpr bool is_lstm = std::is_same_v<A, op::linger::QLSTM>;
  Places p;
  size_t next = 1;
  if (a.has_hidden.value_or(0)) p.hidden = next++;
  if (is_lstm && a.has_cell.value_or(0)) p.cell = next++;
  p.w = next++;
  p.r = next++;
  if (operands > next) p.bias = next++;
  return p;
}

template <class A>
struct Recurrent : Rules<A> {
  static constexpr bool is_lstm = std::is_same_v<A, op::linger::QLSTM>;
  static constexpr int64_t gates = is_lstm ? 4 : 3;

  static void infer(const A& a, Infer& c) {
    const Places p = places_of(a, c.in_count());
    if (c.in_count() != (p.bias == absent ? p.r + 1 : p.bias + 2))
      c.fail("infer.mismatch", cat(c.in_count(), " operands do not make up input, states, weights and biases"));
    if (a.num_layers.value_or(1) != 1)
      c.fail("infer.attribute", cat("num_layers is ", *a.num_layers, " and must be 1"));
    if (a.hidden_size < 1) c.fail("infer.attribute", cat("hidden_size is ", a.hidden_size));
    for (const auto& [name, scale] :
         {std::pair("scale_h", a.scale_h), {"scale_iw", a.scale_iw}, {"scale_hw", a.scale_hw}})
      want_scale(c, name, static_cast<double>(scale));
    want_rank(c, 0, 3, "the input");
    const bool batch_first = a.batch_first.value_or(0) != 0;
    const Dim steps = c.dim(0, batch_first ? 1 : 0), batch = c.dim(0, batch_first ? 0 : 1), hidden = a.hidden_size;
    want_shape(c, p.w, {hidden * gates, c.dim(0, 2)}, "the input's weight");
    want_shape(c, p.r, {hidden * gates, hidden}, "the state's weight");
    if (p.bias != absent)
      for (const size_t i : {p.bias, p.bias + 1}) want_shape(c, i, {hidden * gates}, "a bias");
    for (const size_t i : {p.hidden, p.cell})
      if (i != absent) want_shape(c, i, {1, batch, hidden}, "a state");
    promise(c, a, batch_first ? Shape{batch, steps, hidden} : Shape{steps, batch, hidden});
    for (size_t i = 1; i < c.out_count(); ++i) c.out(i, DType::f32, {1, batch, hidden});
  }

  static void eval(const A& a, Eval& k);
};

double sigmoid(double v) { return in_q15(1 / (1 + std::exp(-v))); }
double tangent(double v) { return in_q15(std::tanh(v)); }
// Products of two numbers in steps of 2^-15 fill 32 bits.
double product(double a, double b) { return saturated(std::floor(a * b * 0x1p30), 32) * 0x1p-30; }

// The state of one sequence; `hidden` are whole numbers in steps of 1 / scale_h.
struct State {
  std::span<double> hidden, cell;
};

// `in` and `past` are the gates' sums from the input and from the state before.
void lstm_step(std::span<const double> in, std::span<const double> past, const Grid& h, Rounding how, State& s) {
  const size_t n = s.hidden.size();
  for (size_t i = 0; i < n; ++i) {
    const auto gate = [&](size_t g) { return in[g * n + i] + past[g * n + i]; };
    const double input = sigmoid(gate(0)), forget = sigmoid(gate(1)), fresh = tangent(gate(2)),
                 output = sigmoid(gate(3));
    const double cell = product(in_q15(s.cell[i]), forget) + product(input, fresh);
    s.cell[i] = std::floor(cell * 0x1p27 + 0.5) * 0x1p-27;
    s.hidden[i] = saturated(rounded(tangent(cell) * output * h.scale, how), h.bits);
  }
}

void gru_step(std::span<const double> in, std::span<const double> past, const Grid& h, Rounding how, State& s) {
  const size_t n = s.hidden.size();
  for (size_t i = 0; i < n; ++i) {
    const double reset = sigmoid(in[i] + past[i]), update = sigmoid(in[n + i] + past[n + i]);
    const double fresh = tangent(in[2 * n + i] + reset * past[2 * n + i]);
    const double before = s.hidden[i] / h.scale;
    s.hidden[i] = saturated(rounded(((1 - update) * fresh + update * before) * h.scale, how), h.bits);
  }
}

// weight * x + bias, in real numbers.
std::vector<double> sums(std::span<const double> weight, std::span<const double> bias, std::span<const double> x,
                         double scale) {
  std::vector<double> out(bias.begin(), bias.end());
  for (size_t g = 0; g < out.size(); ++g) {
    for (size_t i = 0; i < x.size(); ++i) out[g] += weight[g * x.size() + i] * x[i];
    out[g] = saturated(out[g], 32) / scale;
  }
  return out;
}

// The operands as whole numbers.
struct Layer {
  size_t steps = 0, batch = 0, features = 0, hidden_size = 0;
  bool batch_first = false, forward = true;
  double in_scale = 1, past_scale = 1;
  Grid h;
  Rounding how = Rounding::floor_add;
  std::vector<double> x, w, r, b_in, b_past, hidden, cell;

  size_t at(size_t sequence, size_t step) const {
    return batch_first ? sequence * steps + step : step * batch + sequence;
  }
  State state_of(size_t sequence) {
    const size_t first = sequence * hidden_size;
    return {std::span(hidden).subspan(first, hidden_size), std::span(cell).subspan(first, hidden_size)};
  }
};

void want_count(const Eval& k, size_t input, size_t count) {
  if (k.in(input).count() != static_cast<int64_t>(count))
    Eval::fail("eval.shape", cat("operand ", input, " has ", k.in(input).count(), " elements and must have ", count));
}

template <class A>
Layer layer_of(const A& a, Eval& k, size_t gates) {
  const Places p = places_of(a, k.in_count());
  const Tensor& t = k.in(0);
  if (t.rank() != 3 || a.hidden_size < 1) k.fail("eval.shape", "the input must be of rank 3, with a hidden size");
  Layer l;
  l.batch_first = a.batch_first.value_or(0) != 0;
  l.forward = a.go_forward.value_or(1) != 0;
  l.steps = static_cast<size_t>(t.shape()[l.batch_first ? 1 : 0]);
  l.batch = static_cast<size_t>(t.shape()[l.batch_first ? 0 : 1]);
  l.features = static_cast<size_t>(t.shape()[2]);
  l.hidden_size = static_cast<size_t>(a.hidden_size);
  l.how = rounding_of(a.quant_mode);
  const Grid iw{static_cast<double>(a.scale_iw), a.w_bits}, hw{static_cast<double>(a.scale_hw), a.w_bits};
  l.h = {static_cast<double>(a.scale_h), a.o_bits};
  l.in_scale = x_of(a).scale * iw.scale;
  l.past_scale = l.h.scale * hw.scale;
  const int64_t cells = k.in(p.r).count() / std::max<int64_t>(1, a.hidden_size);  // all gates' rows
  if (cells != a.hidden_size * static_cast<int64_t>(gates))
    k.fail("eval.shape", "the state's weight does not suit hidden_size");
  const auto rows = static_cast<size_t>(cells);
  want_count(k, p.r, rows * l.hidden_size);
  want_count(k, p.w, rows * l.features);
  l.x = whole(t, x_of(a), l.how);
  l.w = whole(k.in(p.w), iw, Rounding::even);
  l.r = whole(k.in(p.r), hw, Rounding::even);
  const auto bias = [&](size_t i, double scale) {
    if (p.bias == absent) return std::vector<double>(rows, 0.0);
    want_count(k, p.bias + i, rows);
    return whole(k.in(p.bias + i), {scale, 32}, Rounding::even);
  };
  l.b_in = bias(0, l.in_scale);
  l.b_past = bias(1, l.past_scale);
  const auto state = [&](size_t i) {
    if (i == absent) return std::vector<double>(l.batch * l.hidden_size, 0.0);
    want_count(k, i, l.batch * l.hidden_size);
    const Loaded<double> v(k.in(i));
    return std::vector<double>(v.span().begin(), v.span().end());
  };
  l.hidden = state(p.hidden);
  l.cell = state(p.cell);
  for (double& v : l.hidden) v = saturated(rounded(v * l.h.scale, l.how), l.h.bits);
  return l;
}

template <class A>
void Recurrent<A>::eval(const A& a, Eval& k) {
  Layer l = layer_of(a, k, static_cast<size_t>(gates));
  const size_t n = l.hidden_size;
  std::vector<double> y(l.batch * l.steps * n);
  for (size_t b = 0; b < l.batch; ++b) {
    State s = l.state_of(b);
    for (size_t i = 0; i < l.steps; ++i) {
      const size_t at = l.at(b, l.forward ? i : l.steps - 1 - i);
      const auto in = sums(l.w, l.b_in, std::span(l.x).subspan(at * l.features, l.features), l.in_scale);
      const auto past = sums(l.r, l.b_past, s.hidden, l.past_scale);
      (is_lstm ? lstm_step : gru_step)(in, past, l.h, l.how, s);
      std::copy(s.hidden.begin(), s.hidden.end(), y.begin() + static_cast<std::ptrdiff_t>(at * n));
    }
  }
  std::vector<int64_t> shape = k.in(0).shape();
  shape[2] = a.hidden_size;
  k.out(0, result(a, std::move(shape), y, l.h.scale));
  for (double& v : l.hidden) v /= l.h.scale;
  const std::vector<int64_t> last{1, static_cast<int64_t>(l.batch), a.hidden_size};
  k.out(1, store(DType::f32, last, l.hidden));
  k.out(2, store(DType::f32, last, l.cell));
}

constexpr OpRules table[] = {rules<Recurrent<op::linger::QLSTM>>(), rules<Recurrent<op::linger::QGRU>>()};

}  // namespace

}  // namespace linger

std::span<const OpRules> linger_recurrent_rules() { return linger::table; }

}  // namespace cameo::ops
