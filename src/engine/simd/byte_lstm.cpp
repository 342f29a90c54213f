// com.microsoft's DynamicQuantizeLSTM: the inputs of all steps are rounded and multiplied at once, the state before
// every step.
#include <algorithm>
#include <cmath>

#include "engine/emit.h"
#include "engine/parallel.h"
#include "engine/simd/byte_matrix.h"
#include "engine/simd/emitters.h"
#include "engine/simd/integer.h"
#include "engine/simd/quantize_rows.h"
#include "engine/simd/recurrent_rows.h"
#include "kernels/carrier.h"
#include "ops/generated/microsoft.h"
#include "support/error.h"

namespace cameo::engine {

namespace {

struct Sizes {
  int64_t times, batch, inputs, hidden, directions;
  bool reverse;  // the only direction
  int64_t columns() const { return 4 * hidden; }
  int64_t rows() const { return times * batch; }
  int64_t state() const { return batch * hidden; }
};

// What bytes stand for: (byte - zero) * scale.
struct Range {
  float scale = 1, zero = 0;

  Range(const float* x, int64_t n) {
    float bottom = 0, top = 0;
    widen_range(x, n, bottom, top);
    if (top != bottom) scale = (top - bottom) / 255.0f;
    const float place = 0.0f - bottom / scale;  // no number where the range is infinite
    if (place >= 0.0f) zero = std::nearbyint(std::min(place, 255.0f));
  }
};

// Inputs: x; then per direction the packed weights, the packed recurrent weights, and the scales of both and the bias,
// one behind the other; then h and c if given.
class ByteLstm : public Kernel {
 public:
  ByteLstm(const Sizes& s, bool given, bool vnni)
      : s_(s), given_(given), w_(s.inputs, s.columns(), vnni), r_(s.hidden, s.columns(), vnni) {
    const uint64_t numbers = static_cast<uint64_t>((s.rows() + 1) * s.columns() + 2 * s.state() + r_.stride());
    scratch_bytes = numbers * sizeof(float) + static_cast<uint64_t>(s.rows() * w_.row_bytes() + r_.row_bytes());
  }
  std::string about() const override { return "bytes"; }
  Extents extents() const override {
    const uint64_t states = floats(s_.directions * s_.state());
    Extents e{{floats(s_.rows() * s_.inputs)}, {static_cast<uint64_t>(s_.times) * states, states, states}};
    for (int64_t d = 0; d < s_.directions; ++d)
      e.in.insert(e.in.end(), {w_.bytes(), r_.bytes(), floats(3 * s_.columns())});
    if (given_) e.in.insert(e.in.end(), 2, states);
    return e;
  }

  void run(const Buffers& b) const override {
    const Range range(b.input<float>(0), s_.rows() * s_.inputs);
    Work work;
    work.gates = reinterpret_cast<float*>(b.scratch);
    work.now = work.gates + s_.rows() * s_.columns();
    work.h = work.now + s_.columns();
    work.c = work.h + s_.state();
    work.sums = reinterpret_cast<int32_t*>(work.c + s_.state());
    work.x = reinterpret_cast<uint8_t*>(work.sums + r_.stride());
    work.bytes = work.x + s_.rows() * w_.row_bytes();
    std::fill_n(work.x, s_.rows() * w_.row_bytes() + r_.row_bytes(), uint8_t{0});
    for (int64_t i = 0; i < s_.rows(); ++i)
      quantize_row(b.input<float>(0) + i * s_.inputs, work.x + i * w_.row_bytes(), s_.inputs, range.scale, range.zero);
    for (int64_t d = 0; d < s_.directions; ++d) {
      from_inputs(b, d, range, work);
      steps(b, d, work);
    }
  }

 private:
  struct Work {
    float *gates, *now, *h, *c;
    int32_t* sums;
    uint8_t *x, *bytes;
  };
  std::byte* operand(const Buffers& b, int64_t d, size_t i) const { return b.in[1 + static_cast<size_t>(d) * 3 + i]; }

  // The gates of all steps, as far as the inputs make them.
  void from_inputs(const Buffers& b, int64_t d, const Range& range, const Work& work) const {
    const auto* scales = reinterpret_cast<const float*>(operand(b, d, 2));
    parallel((s_.rows() + vnni_rows_max - 1) / vnni_rows_max,
             std::max<int64_t>(1, (1 << 20) / (vnni_rows_max * s_.inputs * s_.columns())),
             [&](int64_t first, int64_t last) {
               std::vector<int32_t> sums(static_cast<size_t>(vnni_rows_max * w_.stride()));
               for (int64_t block = first; block < last; ++block) {
                 const int64_t top = block * vnni_rows_max, count = std::min(vnni_rows_max, s_.rows() - top);
                 w_.products(work.x + top * w_.row_bytes(), count, static_cast<int32_t>(range.zero), operand(b, d, 0),
                             0, w_.panels(), sums.data());
                 for (int64_t i = 0; i < count; ++i)
                   scale_sums(sums.data() + i * w_.stride(), scales, range.scale, scales + 2 * s_.columns(),
                              work.gates + (top + i) * s_.columns(), s_.columns());
               }
             });
  }

  void steps(const Buffers& b, int64_t d, const Work& work) const {
    const auto at = static_cast<size_t>(1 + 3 * s_.directions);
    if (given_)
      std::copy_n(b.input<float>(at) + d * s_.state(), s_.state(), work.h),
          std::copy_n(b.input<float>(at + 1) + d * s_.state(), s_.state(), work.c);
    else std::fill_n(work.h, 2 * s_.state(), 0.0f);
    const bool backwards = s_.directions == 2 ? d == 1 : s_.reverse;
    const auto* scales = reinterpret_cast<const float*>(operand(b, d, 2)) + s_.columns();
    for (int64_t step = 0; step < s_.times; ++step) {
      const int64_t t = backwards ? s_.times - 1 - step : step;
      for (int64_t k = 0; k < s_.batch; ++k) {
        float *h = work.h + k * s_.hidden, *c = work.c + k * s_.hidden;
        const Range range(h, s_.hidden);
        quantize_row(h, work.bytes, s_.hidden, range.scale, range.zero);
        parallel(r_.panels(), std::max<int64_t>(1, (r_.panels() << 18) / (s_.hidden * s_.columns())),
                 [&](int64_t first, int64_t last) {
                   r_.products(work.bytes, 1, static_cast<int32_t>(range.zero), operand(b, d, 1), first, last,
                               work.sums);
                 });
        scale_sums(work.sums, scales, range.scale, work.gates + (t * s_.batch + k) * s_.columns(), work.now,
                   s_.columns());
        lstm_cell(work.now, s_.hidden, c, h, s_.hidden);
      }
      std::copy_n(work.h, s_.state(), b.output<float>(0) + (t * s_.directions + d) * s_.state());
    }
    std::copy_n(work.h, s_.state(), b.output<float>(1) + d * s_.state());
    std::copy_n(work.c, s_.state(), b.output<float>(2) + d * s_.state());
  }

  const Sizes s_;
  const bool given_;
  const ByteMatrix w_, r_;
};

bool is_usual(const op::DynamicQuantizeLSTM& a) {
  return !a.activation_alpha && !a.activation_beta && !a.activations && !a.clip && !a.input_forget &&
         (a.direction == "forward" || a.direction == "reverse" || a.direction == "bidirectional");
}

// Levels less their zero points, which have to be signed bytes; nothing where they are not.
std::optional<std::vector<int8_t>> signed_levels(Compiler& c, ValueId w, ValueId zeros, int64_t directions,
                                                 int64_t columns) {
  const Loaded<int64_t> levels(*c.constant(w)), zero(*c.constant(zeros));
  const int64_t each = levels.size() / directions;
  std::vector<int8_t> out(static_cast<size_t>(levels.size()));
  for (int64_t i = 0; i < levels.size(); ++i) {
    const int64_t d = i / each;
    const int64_t v = levels[i] - zero[zero.size() == directions ? d : d * columns + i % columns];
    if (v < -128 || v > 127) return std::nullopt;
    out[static_cast<size_t>(i)] = static_cast<int8_t>(v);
  }
  return out;
}

// The scales of the inputs' and the recurrent columns, then both biases as one.
Tensor scales_and_bias(Compiler& c, const Node& node, const Sizes& s, int64_t d) {
  std::vector<float> out(static_cast<size_t>(3 * s.columns()), 0.0f);
  const auto at = [&](int64_t part, int64_t n) -> float& { return out[static_cast<size_t>(part * s.columns() + n)]; };
  for (const int64_t part : {0, 1}) {
    const Loaded<float> scales(*c.constant(node.inputs[part == 0 ? 8 : 10]));
    for (int64_t n = 0; n < s.columns(); ++n)
      at(part, n) = scales[scales.size() == s.directions ? d : d * s.columns() + n];
  }
  if (node.inputs[3]) {
    const Loaded<float> both(*c.constant(node.inputs[3]));
    for (int64_t n = 0; n < s.columns(); ++n)
      at(2, n) = both[2 * d * s.columns() + n] + both[(2 * d + 1) * s.columns() + n];
  }
  return Tensor::of<float>(DType::f32, {3 * s.columns()}, out);
}

SlotId packed(Compiler& c, ValueId w, const std::vector<int8_t>& levels, const ByteMatrix& m, int64_t d,
              int64_t directions) {
  const auto make = [&] {
    const Bytes out = c.store().allocate(m.bytes());
    m.pack(levels.data() + d * (static_cast<int64_t>(levels.size()) / directions), writable(out));
    return out;
  };
  const std::string key = c.key(w, cat("byte matrix", d));
  const Tensor t(DType::i8, {narrow<int64_t>(m.bytes())}, key.empty() ? make() : c.store().get(key, make));
  return c.add_constant(t, {DType::i8, t.shape(), nullptr});
}

// The operands as long as the sizes ask for: they are packed and read by those.
bool fits(Compiler& c, const Node& node, const Sizes& s) {
  const std::vector<int64_t> state{s.directions, s.batch, s.hidden}, whole{s.times, s.directions, s.batch, s.hidden};
  const auto is = [&](ValueId v, const std::vector<int64_t>& dims) { return !v || c.desc(v)->dims == dims; };
  const auto per_column = [&](ValueId v) { return is(v, {s.directions}) || is(v, {s.directions, s.columns()}); };
  for (size_t i = 0; i < node.outputs.size(); ++i)
    if (!is(node.outputs[i], i == 0 ? whole : state)) return false;
  return is(node.inputs[1], {s.directions, s.inputs, s.columns()}) &&
         is(node.inputs[2], {s.directions, s.hidden, s.columns()}) &&
         is(node.inputs[3], {s.directions, 2 * s.columns()}) && is(node.inputs[5], state) &&
         is(node.inputs[6], state) && std::all_of(node.inputs.begin() + 8, node.inputs.end(), per_column);
}

std::optional<Sizes> sizes_of(Compiler& c, const Node& node) {
  const auto* a = node.as<op::DynamicQuantizeLSTM>();
  if (!a || !is_usual(*a) || node.inputs.size() != 12 || node.inputs[4] || node.inputs[7] ||
      node.inputs[5].valid() != node.inputs[6].valid() || !c.is_f32(node.inputs[0]))
    return std::nullopt;
  for (const size_t i : {1, 2, 3, 8, 9, 10, 11})
    if (node.inputs[i] ? !c.is_constant(node.inputs[i]) : i != 3) return std::nullopt;
  const Desc &x = *c.desc(node.inputs[0]), &r = *c.desc(node.inputs[2]);
  if (x.rank() != 3 || r.rank() != 3 || x.count() == 0 || r.count() == 0) return std::nullopt;
  const Sizes s{x.dims[0], x.dims[1], x.dims[2], r.dims[1], r.dims[0], a->direction == "reverse"};
  const bool both = a->direction == "bidirectional";
  if (s.directions != (both ? 2 : 1) || std::max(s.inputs, s.hidden) > deepest_sum || !fits(c, node, s))
    return std::nullopt;
  return s;
}

}  // namespace

bool emit_byte_lstm(Compiler& c, NodeId n) {
  const Node& node = c.graph()[n];
  const auto s = sizes_of(c, node);
  if (!s) return false;
  const auto w = signed_levels(c, node.inputs[1], node.inputs[9], s->directions, s->columns()),
             r = signed_levels(c, node.inputs[2], node.inputs[11], s->directions, s->columns());
  if (!w || !r) return false;
  const ByteMatrix of_w(s->inputs, s->columns()), of_r(s->hidden, s->columns());
  std::vector<SlotId> in{c.plain(node.inputs[0])};
  for (int64_t d = 0; d < s->directions; ++d) {
    in.push_back(packed(c, node.inputs[1], *w, of_w, d, s->directions));
    in.push_back(packed(c, node.inputs[2], *r, of_r, d, s->directions));
    const Tensor rest = scales_and_bias(c, node, *s, d);
    in.push_back(c.add_constant(rest, {DType::f32, rest.shape(), nullptr}));
  }
  const bool given = node.inputs[5].valid();
  if (given) in.insert(in.end(), {c.plain(node.inputs[5]), c.plain(node.inputs[6])});
  const Desc state{DType::f32, {s->directions, s->batch, s->hidden}, nullptr};
  const std::vector<SlotId> out{c.make({DType::f32, {s->times, s->directions, s->batch, s->hidden}, nullptr}),
                                c.make(state), c.make(state)};
  c.step(n, "DynamicQuantizeLSTM", std::make_unique<ByteLstm>(*s, given, has_vnni()), std::move(in), out);
  for (size_t i = 0; i < node.outputs.size(); ++i)
    if (node.outputs[i]) c.bind(node.outputs[i], out[i]);
  return true;
}

}  // namespace cameo::engine
