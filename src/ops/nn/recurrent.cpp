// RNN, GRU and LSTM: one cell each over the walk of recurrent_cell.h.
#include <algorithm>

#include "ops/nn/recurrent_cell.h"
#include "ops/op_def.h"

namespace cameo::ops {

namespace {

template <class A>
void without_layout(const A& a, Expand& e) {
  A plain = a;
  plain.layout = 0;
  recurrent_batch_last(e, std::make_shared<const A>(std::move(plain)));
}
template <class A>
constexpr Expansion layout_expansion() {
  return expansion<A>(
      14, Exactness::exact, [](const A& a, Expand& e) { without_layout(a, e); },
      [](const A& a, const Graph&, NodeId, int64_t) { return a.layout != 0; });
}

void drop_output_sequence(Upgrade& u) { u.drop("output_sequence"); }
void drop_layout(Downgrade& d) { d.drop("layout"); }

struct RNN : Rules<op::RNN> {
  static RecurrentAttrs common(const op::RNN& a) { return recurrent_attrs(a, a.activations); }
  static void infer(const op::RNN& a, Infer& c) { infer_recurrent(common(a), c, 1); }
  static void eval(const op::RNN& a, Eval& k) {
    std::vector<double> next;
    eval_recurrent(common(a), k, 1, [&](const Cell& m, auto x, auto h, auto) {
      next.resize(h.size());
      for (int64_t j = 0; j < m.hidden; ++j)
        next[static_cast<size_t>(j)] = m.activate(0, m.from_input(j, x) + m.from_state(j, h));
      std::copy(next.begin(), next.end(), h.begin());
    });
  }
  static constexpr Revision revisions[] = {{7, drop_output_sequence, recurrent_to_6}, {14, nullptr, drop_layout}};
  static constexpr Expansion expansions[] = {layout_expansion<op::RNN>()};
};

struct GRU : Rules<op::GRU> {
  static RecurrentAttrs common(const op::GRU& a) {
    return recurrent_attrs(a, names_or(a.activations, {"Sigmoid", "Tanh"}, a.direction));
  }
  static void infer(const op::GRU& a, Infer& c) { infer_recurrent(common(a), c, 3); }

  // Rows of the gates: update z, reset r, hidden h.
  static void eval(const op::GRU& a, Eval& k) {
    std::vector<double> z, r, next;
    eval_recurrent(common(a), k, 3, [&](const Cell& m, auto x, auto h, auto) {
      const auto n = static_cast<size_t>(m.hidden);
      z.resize(n), r.resize(n), next.resize(n);
      for (size_t j = 0; j < n; ++j) {
        const auto row = static_cast<int64_t>(j);
        z[j] = m.activate(0, m.from_input(row, x) + m.from_state(row, h));
        r[j] = m.activate(0, m.from_input(row + m.hidden, x) + m.from_state(row + m.hidden, h));
      }
      std::vector<double> reset(h.begin(), h.end());
      for (size_t j = 0; j < n; ++j) reset[j] *= r[j];
      for (size_t j = 0; j < n; ++j) {
        const int64_t row = static_cast<int64_t>(j) + 2 * m.hidden;
        const double state =
            a.linear_before_reset ? r[j] * m.from_state(row, h) : m.from_state(row, std::span<const double>(reset));
        next[j] = (1 - z[j]) * m.activate(1, m.from_input(row, x) + state) + z[j] * h[j];
      }
      std::copy(next.begin(), next.end(), h.begin());
    });
  }

  static constexpr Revision revisions[] = {{3,
                                            [](Upgrade& u) {
                                              const auto direction = u.take_string("direction");
                                              if (direction && *direction != "foward")
                                                u.set("direction", *direction);  // the default as it was spelled then
                                            },
                                            [](Downgrade& d) { d.drop_default("linear_before_reset", int64_t{0}); }},
                                           {7, drop_output_sequence, recurrent_to_6},
                                           {14, nullptr, drop_layout}};
  static constexpr Expansion expansions[] = {layout_expansion<op::GRU>()};
};

struct LSTM : Rules<op::LSTM> {
  static RecurrentAttrs common(const op::LSTM& a) {
    return recurrent_attrs(a, lstm_activations(a.activations, a.direction));
  }
  static void infer(const op::LSTM& a, Infer& c) { infer_recurrent(common(a), c, 4); }

  static void eval(const op::LSTM& a, Eval& k) {
    LstmStep step(a.input_forget != 0);
    eval_recurrent(common(a), k, 4, [&](const Cell& m, auto x, auto h, auto c) { step(m, x, h, h, c); });
  }

  static constexpr Revision revisions[] = {{7, drop_output_sequence, recurrent_to_6}, {14, nullptr, drop_layout}};
  static constexpr Expansion expansions[] = {layout_expansion<op::LSTM>()};
};

constexpr OpRules table[] = {rules<RNN>(), rules<GRU>(), rules<LSTM>()};

}  // namespace

std::span<const OpRules> recurrent_rules() { return table; }

}  // namespace cameo::ops
