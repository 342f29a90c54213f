// com.microsoft's DynamicQuantizeLSTM: weights are bytes, [directions, inputs, 4 * hidden], with a scale for each
// direction or each column; the data, and before every step the state, are rounded to bytes by their range.
// onnxruntime takes the range of a state over as many sequences as a thread computes, so that its results depend on the
// number of threads; here each sequence has its own range, as onnxruntime's with a thread for each.
#include "ops/generated/microsoft.h"
#include "ops/nn/recurrent_cell.h"
#include "ops/op_def.h"
#include "ops/preconditions.h"
#include "ops/quant/dynamic_range.h"

namespace cameo::ops {

namespace {

constexpr size_t weight_scale = 8, state_scale = 10;  // each followed by its zero points

struct DynamicQuantizeLSTM : Rules<op::DynamicQuantizeLSTM> {
  using A = op::DynamicQuantizeLSTM;

  static RecurrentAttrs common(const A& a) { return recurrent_attrs(a, lstm_activations(a.activations, a.direction)); }

  static void infer(const A& a, Infer& c) {
    const RecurrentAttrs attrs = common(a);
    infer_recurrent(attrs, c, 4, true);
    for (const size_t i : {weight_scale, state_scale}) {
      const size_t weight = i == weight_scale ? 1 : 2;
      for (const size_t input : {i, i + 1}) {
        const std::string_view what = input == i ? "the scales" : "the zero points";
        if (c.rank(input) == 1) want_shape(c, input, {attrs.directions()}, what);
        else want_shape(c, input, {attrs.directions(), c.dim(weight, 2)}, what);
      }
    }
  }

  // As ONNX's LSTM has it: [directions, 4 * hidden, inputs].
  static Tensor weight(Eval& k, size_t input, size_t scale) {
    const Tensor& t = k.in(input);
    if (t.rank() != 3) k.fail("eval.shape", "W and R must have rank 3");
    const int64_t directions = t.shape()[0], inputs = t.shape()[1], columns = t.shape()[2];
    const Loaded<float> levels(t), scales(k.in(scale)), zeros(k.in(scale + 1));
    for (const int64_t count : {scales.size(), zeros.size()})
      if (count != directions && count != directions * columns)
        k.fail("eval.shape", cat(count, " scales or zero points for ", directions, " directions of ", columns));
    const auto at = [&](const Loaded<float>& of, int64_t d, int64_t n) {
      return of[of.size() == directions ? d : d * columns + n];
    };
    std::vector<float> out(static_cast<size_t>(t.count()));
    for (int64_t d = 0; d < directions; ++d)
      for (int64_t i = 0; i < inputs; ++i)
        for (int64_t n = 0; n < columns; ++n)
          out[static_cast<size_t>((d * columns + n) * inputs + i)] =
              (levels[(d * inputs + i) * columns + n] - at(zeros, d, n)) * at(scales, d, n);
    return Tensor::of<float>(DType::f32, {directions, columns, inputs}, out);
  }

  static Tensor rounded(const Tensor& t) {
    const Loaded<float> x(t);
    const DynamicRange range(x.span());
    std::vector<float> out;
    for (const float v : x.span()) out.push_back(range.rounded(v));
    return Tensor::of<float>(DType::f32, t.shape(), out);
  }

  static void eval(const A& a, Eval& k) {
    LstmStep step(a.input_forget != 0);
    std::vector<float> state;
    std::vector<double> seen;
    const RecurrentOperands operands{rounded(k.in(0)), weight(k, 1, weight_scale), weight(k, 2, state_scale)};
    eval_recurrent(common(a), k, operands, 4, [&](const Cell& m, auto x, auto h, auto c) {
      state.assign(h.begin(), h.end());
      const DynamicRange range(state);
      seen.clear();
      for (const float v : state) seen.push_back(static_cast<double>(range.rounded(v)));
      step(m, x, seen, h, c);
    });
  }
};

constexpr OpRules table[] = {rules<DynamicQuantizeLSTM>()};

}  // namespace

std::span<const OpRules> dynamic_quantize_lstm_rules() { return table; }

}  // namespace cameo::ops
