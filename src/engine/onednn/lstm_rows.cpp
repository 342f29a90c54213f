// LSTM over few sequences: the inputs' part of all steps is one matrix product, and each step reads the recurrent
// weights once. oneDNN's own layer is better where many sequences share that reading.
#include <algorithm>

#include "engine/onednn/emitters.h"
#include "engine/parallel.h"
#include "engine/simd/recurrent_rows.h"
#include "kernels/carrier.h"
#include "support/error.h"

namespace cameo::engine {

namespace {

struct Sizes {
  int64_t times, batch, inputs, hidden, directions;
  bool reverse;  // the only direction, or the second one
  int64_t gates() const { return 4 * hidden; }
  int64_t panels() const { return (gates() + panel_width - 1) / panel_width; }
};

// Inputs: per direction the gates of all steps, per direction the recurrent weights in panels, then h and c if given.
class LstmRows : public Kernel {
 public:
  LstmRows(const Sizes& s, bool given) : s_(s), given_(given) {
    scratch_bytes = static_cast<uint64_t>(s.panels() * panel_width + 2 * s.batch * s.hidden) * sizeof(float);
  }
  std::string about() const override { return "vector"; }
  Extents extents() const override {
    const auto n = static_cast<size_t>(s_.directions);
    const uint64_t states = floats(s_.directions * s_.batch * s_.hidden);
    Extents e{std::vector<uint64_t>(n, floats(s_.times * s_.batch * s_.gates())),
              {static_cast<uint64_t>(s_.times) * states, states, states}};
    e.in.insert(e.in.end(), n, floats(s_.panels() * s_.hidden * panel_width));
    if (given_) e.in.insert(e.in.end(), 2, states);
    return e;
  }

  void run(const Buffers& b) const override {
    for (int64_t d = 0; d < s_.directions; ++d) direction(b, d);
  }

 private:
  void direction(const Buffers& b, int64_t d) const {
    const auto n = static_cast<size_t>(s_.directions), at = static_cast<size_t>(d);
    const int64_t state = s_.batch * s_.hidden;
    float *gates = reinterpret_cast<float*>(b.scratch), *h = gates + s_.panels() * panel_width, *c = h + state;
    if (given_)
      std::copy_n(b.input<float>(2 * n) + d * state, state, h),
          std::copy_n(b.input<float>(2 * n + 1) + d * state, state, c);
    else std::fill_n(h, 2 * state, 0.0f);
    const bool backwards = s_.directions == 2 ? d == 1 : s_.reverse;
    const float *inputs = b.input<float>(at), *weights = b.input<float>(n + at);
    for (int64_t step = 0; step < s_.times; ++step) {
      const int64_t t = backwards ? s_.times - 1 - step : step;
      float* y = b.output<float>(0) + (t * s_.directions + d) * state;
      for (int64_t k = 0; k < s_.batch; ++k) {
        std::copy_n(inputs + (t * s_.batch + k) * s_.gates(), s_.gates(), gates);
        const float* before = h + k * s_.hidden;
        parallel(
            s_.panels(), std::max<int64_t>(1, 65536 / (panel_width * s_.hidden)),
            [&](int64_t first, int64_t last) { add_panel_products(weights, before, s_.hidden, first, last, gates); });
        lstm_cell(gates, s_.hidden, c + k * s_.hidden, h + k * s_.hidden, s_.hidden);
      }
      std::copy_n(h, state, y);
    }
    std::copy_n(h, state, b.output<float>(1) + d * state);
    std::copy_n(c, state, b.output<float>(2) + d * state);
  }
  Sizes s_;
  bool given_;
};

Tensor part(const Tensor& t, int64_t d, std::vector<int64_t> shape) {
  const size_t bytes = static_cast<size_t>(element_count(shape)) * sizeof(float);
  return Tensor(DType::f32, std::move(shape), t.bytes().slice(static_cast<size_t>(d) * bytes, bytes));
}

}  // namespace

bool emit_lstm_rows(Compiler& c, NodeId n, bool reverse) {
  const Node& node = c.graph()[n];
  const Desc &x = *c.desc(node.inputs[0]), &r = *c.desc(node.inputs[2]);
  const Sizes s{x.dims[0], x.dims[1], x.dims[2], r.dims[2], r.dims[0], reverse};
  const bool given = node.inputs.size() > 5 && node.inputs[5];
  const Tensor w = *c.constant(node.inputs[1]), recurrent = *c.constant(node.inputs[2]);
  const auto b = node.inputs.size() > 3 && node.inputs[3] ? c.constant(node.inputs[3]) : std::nullopt;
  std::vector<SlotId> in, weights;
  for (int64_t d = 0; d < s.directions; ++d) {
    std::vector<float> bias(static_cast<size_t>(s.gates()), 0.0f);
    if (b) {
      const Loaded<float> both(*b);
      for (int64_t i = 0; i < s.gates(); ++i)
        bias[static_cast<size_t>(i)] = both[2 * d * s.gates() + i] + both[(2 * d + 1) * s.gates() + i];
    }
    in.push_back(emit_constant_product(c, n, c.plain(node.inputs[0]), {s.times * s.batch, s.inputs, s.gates()},
                                       node.inputs[1], cat("lstm", d), part(w, d, {s.gates(), s.inputs}),
                                       Tensor::of<float>(DType::f32, {s.gates()}, bias)));
    if (in.back() == no_slot) return false;
    const auto make = [&] {
      const Loaded<float> dense(part(recurrent, d, {s.gates(), s.hidden}));
      const auto panels = panels_of(dense.data(), s.gates(), s.hidden);
      const Bytes bytes = aligned_bytes(panels.size() * sizeof(float));
      std::copy_n(reinterpret_cast<const std::byte*>(panels.data()), bytes.size(), writable(bytes));
      return bytes;
    };
    const std::string key = c.key(node.inputs[2], cat("panels", d));
    const Bytes bytes = key.empty() ? make() : c.store().get(key, make);
    const std::vector<int64_t> shape{s.panels(), s.hidden, panel_width};
    weights.push_back(c.add_constant(Tensor(DType::f32, shape, bytes), {DType::f32, shape, nullptr}));
  }
  in.insert(in.end(), weights.begin(), weights.end());
  if (given) in.insert(in.end(), {c.plain(node.inputs[5]), c.plain(node.inputs[6])});
  const Desc state{DType::f32, {s.directions, s.batch, s.hidden}, nullptr};
  std::vector<SlotId> out{c.make({DType::f32, {s.times, s.directions, s.batch, s.hidden}, nullptr}), c.make(state),
                          c.make(state)};
  c.step(n, "LSTM", std::make_unique<LstmRows>(s, given), std::move(in), out);
  for (size_t i = 0; i < node.outputs.size(); ++i) c.bind(node.outputs[i], out[i]);
  return true;
}

}  // namespace cameo::engine
