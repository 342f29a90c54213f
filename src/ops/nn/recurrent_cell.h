// What RNN, GRU and LSTM share: activations, the walk over steps and directions, layouts, versions.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/revision.h"

namespace cameo::ops {

struct Activation {
  enum class Kind : uint8_t {
    relu,
    tanh,
    sigmoid,
    affine,
    leaky_relu,
    thresholded_relu,
    scaled_tanh,
    hard_sigmoid,
    elu,
    softsign,
    softplus
  } kind;
  double alpha = 0, beta = 0;
  double operator()(double x) const;
};

// Attributes that all three have.
struct RecurrentAttrs {
  std::vector<std::string> activations;  // per_direction of them for each direction
  std::vector<float> alpha, beta;
  std::string direction = "forward";
  std::optional<int64_t> hidden_size;
  std::optional<double> clip;
  bool batch_first = false;

  int64_t directions() const { return direction == "bidirectional" ? 2 : 1; }
};
template <class A>
RecurrentAttrs recurrent_attrs(const A& a, std::vector<std::string> activations) {
  RecurrentAttrs out{std::move(activations),
                     a.activation_alpha.value_or(std::vector<float>{}),
                     a.activation_beta.value_or(std::vector<float>{}),
                     a.direction,
                     a.hidden_size,
                     a.clip ? std::optional<double>(static_cast<double>(*a.clip)) : std::nullopt};
  if constexpr (requires { a.layout; }) out.batch_first = a.layout != 0;
  return out;
}

// The activations that are given, or the usual ones for each direction.
std::vector<std::string> names_or(const std::optional<std::vector<std::string>>& given,
                                  const std::vector<std::string>& per_direction, std::string_view direction);
std::vector<std::string> lstm_activations(const std::optional<std::vector<std::string>>& given,
                                          std::string_view direction);

// Shapes of Y, Y_h (and Y_c). `gates` is 1, 3 or 4. `inputs_first`: weights lie as [directions, inputs, gates], not
// [directions, gates, inputs].
void infer_recurrent(const RecurrentAttrs& a, Infer& c, int64_t gates, bool inputs_first = false);

// One direction's parameters at one batch row.
struct Cell {
  std::span<const double> w, r, wb, rb,
      peephole;  // [gates * hidden, input], [gates * hidden, hidden], biases, LSTM's P
  int64_t input = 0, hidden = 0;
  std::vector<Activation> f;
  std::optional<double> clip;

  double activate(size_t i, double x) const;
  // Row `row` of w times x plus its bias; the same of r.
  double from_input(int64_t row, std::span<const double> x) const;
  double from_state(int64_t row, std::span<const double> h) const;
};
// Computes h (and c) in place from x.
using CellStep = std::function<void(const Cell&, std::span<const double> x, std::span<double> h, std::span<double> c)>;

// LSTM's: rows of the gates are input i, output o, forget f, cell c; of peepholes i, o, f. `state`: h as the recurrent
// weights see it.
class LstmStep {
 public:
  explicit LstmStep(bool input_forget) : input_forget_(input_forget) {}
  void operator()(const Cell& m, std::span<const double> x, std::span<const double> state, std::span<double> h,
                  std::span<double> c);

 private:
  const bool input_forget_;
  std::vector<double> sums_;
};

struct RecurrentOperands {
  Tensor x, w, r;
};
// Inputs X, W, R, B, sequence_lens, initial_h (, initial_c, P for four gates); outputs Y, Y_h (, Y_c). The first three
// are those that are given.
void eval_recurrent(const RecurrentAttrs& a, Eval& k, const RecurrentOperands& operands, int64_t gates,
                    const CellStep& step);
inline void eval_recurrent(const RecurrentAttrs& a, Eval& k, int64_t gates, const CellStep& step) {
  eval_recurrent(a, k, {k.in(0), k.in(1), k.in(2)}, gates, step);
}

void recurrent_to_6(Downgrade& d);                                                       // output_sequence
void recurrent_batch_last(Expand& e, std::shared_ptr<const void> attrs_without_layout);  // layout, before 14

}  // namespace cameo::ops
