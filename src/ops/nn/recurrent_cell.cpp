#include "ops/nn/recurrent_cell.h"

#include <algorithm>
#include <cmath>

#include "ops/nn/expansions.h"
#include "ops/preconditions.h"

namespace cameo::ops {

double Activation::operator()(double x) const {
  switch (kind) {
    case Kind::relu: return std::max(x, 0.0);
    case Kind::tanh: return std::tanh(x);
    case Kind::sigmoid: return 1 / (1 + std::exp(-x));
    case Kind::affine: return alpha * x + beta;
    case Kind::leaky_relu: return x >= 0 ? x : alpha * x;
    case Kind::thresholded_relu: return x > alpha ? x : 0;
    case Kind::scaled_tanh: return alpha * std::tanh(beta * x);
    case Kind::hard_sigmoid: return std::clamp(alpha * x + beta, 0.0, 1.0);
    case Kind::elu: return x >= 0 ? x : alpha * std::expm1(x);
    case Kind::softsign: return x / (1 + std::abs(x));
    case Kind::softplus: return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
  }
  return x;
}

namespace {

struct ActivationName {
  std::string_view name;
  Activation::Kind kind;
  std::optional<double> alpha, beta;  // defaults; nullopt: it has no such parameter
};
constexpr ActivationName activation_names[] = {
    {"relu", Activation::Kind::relu, {}, {}},
    {"tanh", Activation::Kind::tanh, {}, {}},
    {"sigmoid", Activation::Kind::sigmoid, {}, {}},
    {"affine", Activation::Kind::affine, 1.0, 0.0},
    {"leakyrelu", Activation::Kind::leaky_relu, 0.01, {}},
    {"thresholdedrelu", Activation::Kind::thresholded_relu, 1.0, {}},
    {"scaledtanh", Activation::Kind::scaled_tanh, 1.0, 1.0},
    {"hardsigmoid", Activation::Kind::hard_sigmoid, 0.2, 0.5},
    {"elu", Activation::Kind::elu, 1.0, {}},
    {"softsign", Activation::Kind::softsign, {}, {}},
    {"softplus", Activation::Kind::softplus, {}, {}},
};

// Parameters are handed out in order to the activations that have them. An unknown name is a problem.
std::vector<Activation> activations_of(const RecurrentAttrs& a, std::string& problem) {
  std::vector<Activation> out;
  size_t next_alpha = 0, next_beta = 0;
  for (const std::string& given : a.activations) {
    std::string lower = given;
    for (char& ch : lower) ch = static_cast<char>(ch >= 'A' && ch <= 'Z' ? ch - 'A' + 'a' : ch);
    const auto* row = std::find_if(std::begin(activation_names), std::end(activation_names),
                                   [&](const auto& r) { return r.name == lower; });
    if (row == std::end(activation_names)) return problem = cat("activation '", given, "' is unknown"), out;
    Activation f{row->kind, row->alpha.value_or(0), row->beta.value_or(0)};
    if (row->alpha && next_alpha < a.alpha.size()) f.alpha = static_cast<double>(a.alpha[next_alpha++]);
    if (row->beta && next_beta < a.beta.size()) f.beta = static_cast<double>(a.beta[next_beta++]);
    out.push_back(f);
  }
  return out;
}

double dot(std::span<const double> m, std::span<const double> v, int64_t row) {
  const double* p = m.data() + static_cast<size_t>(row) * v.size();
  double sum = 0;
  for (size_t i = 0; i < v.size(); ++i) sum += p[i] * v[i];
  return sum;
}

}  // namespace

std::vector<std::string> names_or(const std::optional<std::vector<std::string>>& given,
                                  const std::vector<std::string>& per_direction, std::string_view direction) {
  if (given && !given->empty()) return *given;
  std::vector<std::string> out = per_direction;
  if (direction == "bidirectional") out.insert(out.end(), per_direction.begin(), per_direction.end());
  return out;
}

double Cell::activate(size_t i, double x) const { return f[i](clip ? std::clamp(x, -*clip, *clip) : x); }
double Cell::from_input(int64_t row, std::span<const double> x) const {
  return dot(w, x, row) + (wb.empty() ? 0 : wb[static_cast<size_t>(row)]);
}
double Cell::from_state(int64_t row, std::span<const double> h) const {
  return dot(r, h, row) + (rb.empty() ? 0 : rb[static_cast<size_t>(row)]);
}

namespace {

int64_t activations_per_direction(int64_t gates) { return gates == 1 ? 1 : gates - 1; }

// What is wrong with the attributes; empty when nothing is.
std::string problem_of(const RecurrentAttrs& a, int64_t gates) {
  if (a.direction != "forward" && a.direction != "reverse" && a.direction != "bidirectional")
    return cat("direction '", a.direction, "' is unknown");
  if (a.clip && !(*a.clip >= 0)) return cat("clip is ", *a.clip);
  std::string problem;
  const auto given = static_cast<int64_t>(activations_of(a, problem).size()),
             wanted = a.directions() * activations_per_direction(gates);
  if (problem.empty() && given < wanted) problem = cat(given, " activations where ", wanted, " are wanted");
  return problem;
}

}  // namespace

std::vector<std::string> lstm_activations(const std::optional<std::vector<std::string>>& given,
                                          std::string_view direction) {
  return names_or(given, {"Sigmoid", "Tanh", "Tanh"}, direction);
}

void infer_recurrent(const RecurrentAttrs& a, Infer& c, int64_t gates, bool inputs_first) {
  constexpr size_t bias = 3, lengths = 4, first_h = 5, first_c = 6, peepholes = 7;
  for (size_t i = 0; i < 3; ++i) want_rank(c, i, 3, cat("input ", i));
  if (const std::string problem = problem_of(a, gates); !problem.empty()) c.fail("infer.attribute", problem);
  const Dim steps = c.dim(0, a.batch_first ? 1 : 0), batch = c.dim(0, a.batch_first ? 0 : 1), dirs = a.directions();
  Dim hidden = c.dim(2, inputs_first ? 1 : 2);
  if (a.hidden_size) hidden = c.same(*a.hidden_size, hidden, "'hidden_size' and the weights'");
  const auto want_weights = [&](size_t i, Dim inputs, std::string_view what) {
    want_shape(c, i, inputs_first ? Shape{dirs, inputs, hidden * gates} : Shape{dirs, hidden * gates, inputs}, what);
  };
  want_weights(1, c.dim(0, 2), "W");
  want_weights(2, hidden, "R");
  const Shape state = a.batch_first ? Shape{batch, dirs, hidden} : Shape{dirs, batch, hidden};
  if (c.has(bias)) want_shape(c, bias, {dirs, hidden * (2 * gates)}, "B");
  if (c.has(lengths)) want_shape(c, lengths, {batch}, "sequence_lens");
  if (c.has(first_h)) want_shape(c, first_h, state, "initial_h");
  if (c.has(first_c)) want_shape(c, first_c, state, "initial_c");
  if (c.has(peepholes)) want_shape(c, peepholes, {dirs, hidden * 3}, "P");
  c.out(0, a.batch_first ? Shape{batch, steps, dirs, hidden} : Shape{steps, dirs, batch, hidden});
  for (size_t i = 1; i < 3; ++i) c.out(i, state);
}

namespace {

// The state [dirs, batch, hidden], from an optional input.
std::vector<double> initial_state(Eval& k, size_t i, bool batch_first, int64_t dirs, int64_t batch, int64_t hidden) {
  std::vector<double> out(static_cast<size_t>(element_count(std::vector<int64_t>{dirs, batch, hidden})), 0);
  if (!k.has(i)) return out;
  const Loaded<double> v(k.in(i));
  if (v.size() != static_cast<int64_t>(out.size()))
    k.fail("eval.shape", cat("input ", i, " has ", v.size(), " elements where ", out.size(), " are wanted"));
  for (int64_t d = 0; d < dirs; ++d)
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t h = 0; h < hidden; ++h)
        out[static_cast<size_t>((d * batch + b) * hidden + h)] =
            v[(batch_first ? b * dirs + d : d * batch + b) * hidden + h];
  return out;
}

Tensor state_tensor(const std::vector<double>& state, DType dtype, bool batch_first, int64_t dirs, int64_t batch,
                    int64_t hidden) {
  const Tensor t = store(dtype, {dirs, batch, hidden}, state);
  const int64_t order[] = {hidden, batch * hidden, 1};
  return batch_first ? strided(t, {batch, dirs, hidden}, order) : t;
}

struct Sizes {
  int64_t dirs, steps, batch, input, hidden;
};

// The sizes that the operands agree on.
Sizes sizes_of(const RecurrentAttrs& a, Eval& k, const RecurrentOperands& given, int64_t gates) {
  const auto& [x, w, r] = given;
  if (const std::string problem = problem_of(a, gates); !problem.empty()) k.fail("eval.attribute", problem);
  if (x.rank() != 3 || w.rank() != 3 || r.rank() != 3) k.fail("eval.shape", "X, W and R must have rank 3");
  const Sizes sizes{a.directions(), x.shape()[a.batch_first], x.shape()[!a.batch_first], x.shape()[2], r.shape()[2]};
  const auto [dirs, steps, batch, input, hidden] = sizes;
  if (w.shape() != std::vector<int64_t>{dirs, gates * hidden, input} ||
      r.shape() != std::vector<int64_t>{dirs, gates * hidden, hidden})
    k.fail("eval.shape", "the weights' shapes do not suit the input and the direction");
  if (k.has(3) && k.in(3).count() != dirs * 2 * gates * hidden)
    k.fail("eval.shape", cat("B has ", k.in(3).count(), " elements"));
  if (k.has(7) && k.in(7).count() != dirs * 3 * hidden)
    k.fail("eval.shape", cat("P has ", k.in(7).count(), " elements"));
  return sizes;
}

// Steps of each sequence of the batch.
std::vector<int64_t> lengths_of(Eval& k, int64_t batch, int64_t steps) {
  std::vector<int64_t> lengths = k.has(4) ? k.ints(4) : std::vector<int64_t>(static_cast<size_t>(batch), steps);
  if (static_cast<int64_t>(lengths.size()) != batch)
    k.fail("eval.shape", cat("sequence_lens has ", lengths.size(), " elements for a batch of ", batch));
  for (const int64_t n : lengths)
    if (n < 0 || n > steps) k.fail("eval.index", cat("a sequence of ", n, " in ", steps, " steps"));
  return lengths;
}

}  // namespace

void eval_recurrent(const RecurrentAttrs& a, Eval& k, const RecurrentOperands& operands, int64_t gates,
                    const CellStep& step) {
  const Tensor& x = operands.x;
  const auto [dirs, steps, batch, input, hidden] = sizes_of(a, k, operands, gates);
  const std::vector<int64_t> lengths = lengths_of(k, batch, steps);
  const Tensor none = zeros(DType::f32, {0});
  const Loaded<double> xs(x), w(operands.w), r(operands.r), bias(k.has(3) ? k.in(3) : none),
      peepholes(k.has(7) ? k.in(7) : none);
  std::vector<double> h = initial_state(k, 5, a.batch_first, dirs, batch, hidden),
                      c = initial_state(k, 6, a.batch_first, dirs, batch, hidden);
  std::vector<double> y(static_cast<size_t>(element_count(std::vector<int64_t>{steps, dirs, batch, hidden})), 0);
  std::string problem;  // none: sizes_of would have told
  const auto f = activations_of(a, problem);
  const int64_t per_direction = activations_per_direction(gates);
  const auto part = [](std::span<const double> all, int64_t from, int64_t count) {
    return all.empty() ? all : all.subspan(static_cast<size_t>(from), static_cast<size_t>(count));
  };
  for (int64_t d = 0; hidden && d < dirs; ++d) {
    const bool backward = a.direction == "reverse" || d == 1;
    const int64_t rows = gates * hidden;
    const Cell cell{part(w.span(), d * rows * input, rows * input),
                    part(r.span(), d * rows * hidden, rows * hidden),
                    part(bias.span(), d * 2 * rows, rows),
                    part(bias.span(), d * 2 * rows + rows, rows),
                    part(peepholes.span(), d * 3 * hidden, 3 * hidden),
                    input,
                    hidden,
                    {f.begin() + d * per_direction, f.begin() + (d + 1) * per_direction},
                    a.clip};
    for (int64_t b = 0; b < batch; ++b) {
      const std::span<double> hs(h.data() + (d * batch + b) * hidden, static_cast<size_t>(hidden)),
          cs(c.data() + (d * batch + b) * hidden, static_cast<size_t>(hidden));
      const int64_t length = lengths[static_cast<size_t>(b)];
      for (int64_t s = 0; s < length; ++s) {
        const int64_t t = backward ? length - 1 - s : s;
        step(cell, part(xs.span(), (a.batch_first ? b * steps + t : t * batch + b) * input, input), hs, cs);
        const int64_t at = a.batch_first ? (b * steps + t) * dirs + d : (t * dirs + d) * batch + b;
        std::copy(hs.begin(), hs.end(), y.begin() + at * hidden);
      }
    }
  }
  k.out(0, store(x.dtype(),
                 a.batch_first ? std::vector<int64_t>{batch, steps, dirs, hidden}
                               : std::vector<int64_t>{steps, dirs, batch, hidden},
                 y));
  k.out(1, state_tensor(h, x.dtype(), a.batch_first, dirs, batch, hidden));
  k.out(2, state_tensor(c, x.dtype(), a.batch_first, dirs, batch, hidden));
}

void LstmStep::operator()(const Cell& m, std::span<const double> x, std::span<const double> state, std::span<double> h,
                          std::span<double> c) {
  const auto n = static_cast<size_t>(m.hidden);
  sums_.resize(4 * n);
  for (size_t row = 0; row < sums_.size(); ++row)
    sums_[row] = m.from_input(static_cast<int64_t>(row), x) + m.from_state(static_cast<int64_t>(row), state);
  const auto peek = [&](size_t gate, size_t j) { return m.peephole.empty() ? 0 : m.peephole[gate * n + j]; };
  for (size_t j = 0; j < n; ++j) {
    const double i = m.activate(0, sums_[j] + peek(0, j) * c[j]);
    const double f = input_forget_ ? 1 - i : m.activate(0, sums_[2 * n + j] + peek(2, j) * c[j]);
    c[j] = f * c[j] + i * m.activate(1, sums_[3 * n + j]);
    h[j] = m.activate(0, sums_[n + j] + peek(1, j) * c[j]) * m.activate(2, c[j]);
  }
}

void recurrent_to_6(Downgrade& d) { d.set("output_sequence", int64_t{1}); }

void recurrent_batch_last(Expand& e, std::shared_ptr<const void> attrs) {
  On& on = e.on;
  const Node n = e.graph[e.node];  // a copy: emitting moves nodes
  std::vector<ValueId> inputs = n.inputs;
  for (const size_t i : {size_t{0}, size_t{5}, size_t{6}})
    if (e.has(i)) inputs[i] = transpose(on, inputs[i], {1, 0, 2});
  std::vector<ValueId> out = on.emit(def(*n.op), std::move(attrs), std::move(inputs), n.outputs.size());
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = i == 0 ? transpose(on, out[i], {2, 0, 1, 3}) : transpose(on, out[i], {1, 0, 2});
  e.replace(std::move(out));
}

}  // namespace cameo::ops
