// Models in 16 bits and in bytes: the fast paths against the reference kernels.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "engine/session.h"
#include "engine/simd/half_rows.h"
#include "engine/simd/integer_rows.h"
#include "engine/simd/quantize_rows.h"
#include "engine/simd/transpose_bytes.h"
#include "runtime/compare.h"
#include "runtime/reference.h"
#include "unit/engine/models.h"

namespace cameo::tests {
namespace {

struct Case {
  const char* name;
  const char* text;
  const char* steps;  // operators that have to be there, and run fast
};
std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name; }

bool has_step(const std::vector<StepTime>& times, const std::string& op) {
  return std::any_of(times.begin(), times.end(),
                     [&](const StepTime& t) { return t.op.starts_with(op) && t.kernel != "reference"; });
}

// Floats within the tolerance of their type, bytes within `quanta`.
void expect_close(const Datum& got, const Datum& want, int64_t quanta) {
  if (got.tensor.dtype() != DType::u8 && got.tensor.dtype() != DType::i8) {
    const Comparison same = compare(got, want);
    EXPECT_TRUE(same.same) << same.why;
    return;
  }
  ASSERT_EQ(got.tensor.shape(), want.tensor.shape());
  const auto a = got.tensor.to_ints(), b = want.tensor.to_ints();
  int64_t worst = 0;
  for (size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
  EXPECT_LE(worst, quanta);
}

void agree(const Case& c, bool onednn, int64_t quanta) {
  const Model m = model_of(c.text);
  const auto in = inputs_of(m.graph, 7);
  const auto want = run_reference(m, in);
  SessionOptions o;
  o.onednn = onednn;
  const Session s(m, o);
  std::vector<StepTime> times;
  for (int round = 0; round < 2; ++round) {
    times.clear();
    const auto got = s.run(in, &times);
    for (size_t i = 0; i < got.size(); ++i) expect_close(got[i], want[i], quanta);
  }
  std::string steps = c.steps;
  if (!onednn && onednn_version() != "") {  // convolutions of floats are oneDNN's
    for (const char* only : {"Conv", "MatMul", "Gemm"})
      if (steps.starts_with(only) && steps != "MatMulInteger") return;
  }
  if (onednn_version() == "" && !steps.starts_with("Q") && !steps.starts_with("MatMulInteger")) return;
  EXPECT_TRUE(has_step(times, steps)) << steps;
}

const Case halves[] = {
    {"conv",
     "g (float16[1,8,11,9] x, float16[16,8,3,3] w, float16[16] wb) => (float16[n,16,a,b] y) { a = Conv<pads=[1, 1, 1, "
     "1]>(x, w, wb) y = Relu(a) }",
     "Conv"},
    {"conv_batch_norm",
     "g (float16[1,3,6,6] x, float16[5,3,3,3] w, float16[5] ws, float16[5] wb, float16[5] wm) => (float16[n,5,a,b] y) "
     "{ v = Mul(wm, wm) a = Conv(x, w) b = BatchNormalization(a, ws, wb, wm, v) y = Relu(b) }",
     "Conv"},
    {"softmax",
     "g (float16[3,5,37] x, bfloat16[3,41] z) => (float16[3,5,37] y, bfloat16[3,41] v, float16[3,5,37] u) { y = "
     "Softmax(x) v = Softmax(z) u = Softmax<axis=0>(x) }",
     "Sub+round"},
    {"residual_is_output",
     "g (float16[1,8,9,9] x, float16[8,8,1,1] w) => (float16[n,8,a,b] y, float16[n,8,a,b] r) { r = Conv(x, w) c = "
     "Conv(r, w) y = Add(c, r) }",
     "Conv"},
    {"matmul",
     "g (float16[2,5,33] x, float16[33,40] w, float16[40] wb) => (float16[2,5,40] y) { a = MatMul(x, w) b = Add(a, wb) "
     "y = Gelu(b) }",
     "MatMul"},
    {"large_weights",
     "g (float16[3,300] x, float16[300,700] w, float16[700] wb) => (float16[3,700] y) { y = Gemm(x, w, wb) }", "Gemm"},
    {"chain",
     "g (float16[3,1,37] x, float16[5,1] z) => (float16[3,5,37] y) { a = Add(x, z) b = Mul(a, x) c = Tanh(b) y = "
     "Sub(z, c) }",
     "Add"},
    {"bfloat",
     "g (bfloat16[3,33] x, bfloat16[33,21] w) => (bfloat16[3,21] y) { a = MatMul(x, w) s = Softmax(a) y = Add(s, a) }",
     "MatMul"},
    {"norms",
     "g (float16[3,5,37] x, float16[37] w, float16[37] wb) => (float16[3,5,37] y, float16[5,3,37] z) { y = "
     "LayerNormalization(x, w, wb) z = Transpose<perm=[1, 0, 2]>(y) }",
     "LayerNormalization"},
    {"between",
     "g (float16[3,37] x) => (float16[3,37] y, float[3,37] z) { a = Relu(x) p = Pow(a, a) y = Sigmoid(p) z = "
     "Cast<to=1>(y) }",
     "Sigmoid"},
    {"embedding",
     "g (int64[4] i, float16[50,24] w, float16[24] wb) => (float16[4,24] y) { a = Gather(w, i) y = Add(a, wb) }",
     "Add"},
    {"in_a_body",
     "g (float16[3] x, bool c) => (float16[3] y) { a = Relu(x) y = If(c) <then_branch = t () => (float16[3] r) { r = "
     "Tanh(a) }, else_branch = e () => (float16[3] s) { s = Sub(a, x) }> }",
     "Relu"},
};

// Names end in what stands around: u for unsigned bytes, s for signed ones.
const Case bytes[] = {
    {"conv_u",
     "g (uint8[2,5,11,9] x, int8[12,5,3,3] w) => (uint8[2,12,a,b] y) { s = Constant<value_float=0.02>() z = "
     "Constant<value=uint8 {113}>() ws = Constant<value_float=0.013>() wz = Constant<value=int8 {0}>() "
     "ys = Constant<value_float=0.4>() yz = Constant<value=uint8 {121}>() f = DequantizeLinear(x, s, z) v = "
     "DequantizeLinear(w, ws, wz) a = Conv<pads=[1, 1, 1, 1], strides=[2, 1]>(f, v) y = QuantizeLinear(a, ys, yz) }",
     "QLinearConv"},
    {"conv_relu_s",
     "g (int8[1,4,9,10] x, int8[4,4,3,3] w, float[4] wb) => (int8[1,4,a,b] y) { s = Constant<value_float=0.02>() z = "
     "Constant<value=int8 {-7}>() ws = Constant<value_floats=[0.01, 0.02, 0.004, 0.03]>() "
     "wz = Constant<value=int8[4] {0, 0, 0, 0}>() ys = Constant<value_float=0.2>() yz = Constant<value=int8 {-128}>() "
     "f = DequantizeLinear(x, s, z) v = DequantizeLinear<axis=0>(w, ws, wz) a = Conv(f, v, wb) r = Relu(a) y = "
     "QuantizeLinear(r, ys, yz) }",
     "QLinearConv"},
    {"conv_1d_u",
     "g (uint8[2,5,37] x, uint8[6,5,4] w) => (uint8[2,6,a] y) { s = Constant<value_float=0.02>() z = "
     "Constant<value=uint8 {3}>() wz = Constant<value=uint8 {77}>() ys = Constant<value_float=0.6>() yz = "
     "Constant<value=uint8 {90}>() "
     "f = DequantizeLinear(x, s, z) v = DequantizeLinear(w, s, wz) a = Conv<dilations=[3]>(f, v) y = QuantizeLinear(a, "
     "ys, yz) }",
     "QLinearConv"},
    {"two_convs_and_pool",
     "g (float[1,3,17,18] x, int8[20,3,3,3] w, int8[8,20,1,1] w2) => (float[1,8,a,b] y) { s = "
     "Constant<value_float=0.016>() z = Constant<value=uint8 {128}>() ws = Constant<value_float=0.01>() wz = "
     "Constant<value=int8 {0}>() "
     "q = QuantizeLinear(x, s, z) f = DequantizeLinear(q, s, z) v = DequantizeLinear(w, ws, wz) a = Conv(f, v) as = "
     "Constant<value_float=0.1>() aq = QuantizeLinear(a, as, z) ad = DequantizeLinear(aq, as, z) "
     "p = MaxPool<kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]>(ad) pq = QuantizeLinear(p, as, z) pd = "
     "DequantizeLinear(pq, as, z) v2 = DequantizeLinear(w2, ws, wz) b = Conv(pd, v2) bs = Constant<value_float=1.5>() "
     "bq = QuantizeLinear(b, bs, z) y = DequantizeLinear(bq, bs, z) }",
     "QLinearConv"},
    // Zero points that only the run tells, and weights that do not fit in signed bytes.
    {"conv_integer_dynamic",
     "g (float[2,5,13,11] x, uint8[7,5,3,3] w) => (int32[2,7,a,b] y) { q, s, z = DynamicQuantizeLinear(x) wz = "
     "Constant<value=uint8 {121}>() y = ConvInteger<pads=[1, 2, 1, 0], strides=[2, 1], dilations=[1, 2]>(q, w, z, wz) "
     "}",
     "ConvInteger"},
    {"conv_integer_dynamic_signed",
     "g (float[1,16,9,10] x, int8[24,16,3,3] w) => (int32[1,24,a,b] y) { q, s, z = DynamicQuantizeLinear(x) y = "
     "ConvInteger<pads=[1, 1, 1, 1]>(q, w, z) }",
     "ConvInteger"},
    {"conv_integer_dynamic_grouped",
     "g (float[1,20,9,10] x, uint8[40,5,3,3] w, uint8[20,1,3,3] w2) => (int32[1,40,a,b] y, int32[1,20,a,b] v) { q, s, "
     "z = DynamicQuantizeLinear(x) wz = Constant<value=uint8 {130}>() y = ConvInteger<group=4, strides=[1, 2]>(q, w, "
     "z, wz) v = ConvInteger<group=20, pads=[1, 1, 1, 1]>(q, w2, z, wz) }",
     "ConvInteger"},
    {"conv_integer_dynamic_1d",
     "g (float[2,16,37] x, uint8[6,16,4] w) => (int32[2,6,a] y) { q, s, z = DynamicQuantizeLinear(x) wz = "
     "Constant<value=uint8 {3}>() y = ConvInteger<dilations=[3], pads=[2, 0]>(q, w, z, wz) }",
     "ConvInteger"},
    {"conv_integer_zero_given",
     "g (int8[1,17,9,10] x, int8[4,17,2,2] w, int8[1] z) => (int32[1,4,a,b] y) { wz = Constant<value=int8 {-5}>() y = "
     "ConvInteger<pads=[0, 1, 1, 0]>(x, w, z, wz) }",
     "ConvInteger"},
    {"conv_u_weights_in_many_channels",
     "g (uint8[2,33,19,17] x, uint8[35,33,3,3] w) => (uint8[2,35,a,b] y) { s = Constant<value_float=0.02>() z = "
     "Constant<value=uint8 {113}>() wz = Constant<value=uint8 {120}>() ys = Constant<value_float=1.4>() y = "
     "QLinearConv<pads=[1, 1, 1, 1]>(x, s, z, w, s, wz, ys, z) }",
     "QLinearConv"},
    {"conv_integer_3d",
     "g (uint8[2,6,5,9,10] x, uint8[20,6,3,3,2] w) => (int32[2,20,a,b,c] y) { z = Constant<value=uint8 {99}>() wz = "
     "Constant<value=uint8 {120}>() y = ConvInteger<pads=[1, 1, 0, 1, 1, 0], strides=[1, 2, 1]>(x, w, z, wz) }",
     "ConvInteger"},
    {"conv_pointwise_in_panels",
     "g (int8[1,3,50,7] x, uint8[79,3,1,1] w) => (int8[1,79,50,7] y) { s = Constant<value_float=0.02>() z = "
     "Constant<value=int8 {13}>() wz = Constant<value=uint8 {120}>() ys = Constant<value_float=0.4>() y = "
     "QLinearConv(x, s, z, w, s, wz, ys, z) }",
     "QLinearConv"},
    {"conv_of_three_planes",
     "g (uint8[1,3,40,41] x, int8[8,3,3,3] w) => (uint8[1,8,a,b] y) { s = Constant<value_float=0.02>() z = "
     "Constant<value=uint8 {13}>() wz = Constant<value=int8 {2}>() ys = Constant<value_float=0.4>() y = "
     "QLinearConv<pads=[1, 1, 1, 1], strides=[2, 2]>(x, s, z, w, s, wz, ys, z) }",
     "QLinearConv"},
    // In one pass from bytes to bytes.
    {"table_u",
     "g (uint8[2,5,77] x) => (uint8[2,5,77] y) { s = Constant<value_float=0.05>() z = Constant<value=uint8 {113}>() ys "
     "= Constant<value_float=0.03>() yz = Constant<value=uint8 {9}>() f = DequantizeLinear(x, s, z) h = HardSwish(f) t "
     "= LeakyRelu<alpha=0.3>(h) y = QuantizeLinear(t, ys, yz) }",
     "HardSwish+LeakyRelu"},
    {"table_s",
     "g (int8[777] x) => (uint8[777] y) { s = Constant<value_float=0.05>() z = Constant<value=int8 {-3}>() ys = "
     "Constant<value_float=0.004>() yz = Constant<value=uint8 {0}>() f = DequantizeLinear(x, s, z) t = Sigmoid(f) y = "
     "QuantizeLinear(t, ys, yz) }",
     "Sigmoid"},
    {"sum_of_bytes",
     "g (uint8[3,77] x, int8[3,77] v) => (uint8[3,77] y) { s = Constant<value_float=0.05>() z = Constant<value=uint8 "
     "{113}>() vs = Constant<value_float=0.021>() vz = Constant<value=int8 {-7}>() f = DequantizeLinear(x, s, z) g2 = "
     "DequantizeLinear(v, vs, vz) a = Add(f, g2) r = Relu(a) y = QuantizeLinear(r, s, z) }",
     "Add+Relu"},
    {"product_of_bytes",
     "g (int8[3,77] x, int8[3,77] v) => (int8[3,77] y) { s = Constant<value_float=0.05>() z = Constant<value=int8 "
     "{11}>() vs = Constant<value_float=0.021>() vz = Constant<value=int8 {-7}>() f = DequantizeLinear(x, s, z) g2 = "
     "DequantizeLinear(v, vs, vz) a = Mul(f, g2) y = QuantizeLinear(a, s, z) }",
     "Mul"},
    {"residual_of_bytes",
     "g (uint8[1,8,9,9] x, int8[8,8,3,3] w) => (uint8[1,8,9,9] y) { s = Constant<value_float=0.02>() z = "
     "Constant<value=uint8 {113}>() ws = Constant<value_float=0.013>() wz = Constant<value=int8 {0}>() f = "
     "DequantizeLinear(x, s, z) v = DequantizeLinear(w, ws, wz) a = Conv<pads=[1, 1, 1, 1]>(f, v) q = "
     "QuantizeLinear(a, "
     "s, z) d = DequantizeLinear(q, s, z) t = Add(f, d) y = QuantizeLinear(t, s, z) }",
     "Add"},
    {"mean_of_bytes",
     "g (uint8[2,5,7,9] x) => (int8[2,5,1,1] y) { s = Constant<value_float=0.05>() z = Constant<value=uint8 {113}>() "
     "ys "
     "= Constant<value_float=0.01>() yz = Constant<value=int8 {9}>() f = DequantizeLinear(x, s, z) h = "
     "GlobalAveragePool(f) y = QuantizeLinear(h, ys, yz) }",
     "GlobalAveragePool"},
    {"product_by_channel",
     "g (uint8[2,5,9,11] x, int8[5,1,1] v) => (uint8[2,5,9,11] y) { s = Constant<value_float=0.05>() z = "
     "Constant<value=uint8 {113}>() vs = Constant<value_float=0.021>() vz = Constant<value=int8 {-7}>() f = "
     "DequantizeLinear(x, s, z) g2 = DequantizeLinear(v, vs, vz) a = Mul(f, g2) y = QuantizeLinear(a, s, z) }",
     "Mul"},
    {"sum_along_rows",
     "g (uint8[7] v, uint8[3,5,7] x) => (int8[3,5,7] y) { s = Constant<value_float=0.05>() z = Constant<value=uint8 "
     "{113}>() yz = Constant<value=int8 {3}>() f = DequantizeLinear(v, s, z) g2 = DequantizeLinear(x, s, z) a = Add(f, "
     "g2) y = QuantizeLinear(a, s, yz) }",
     "Add"},
    {"sum_with_one_number",
     "g (uint8[3,5,37] x, uint8[1] v) => (uint8[3,5,37] y) { s = Constant<value_float=0.05>() z = Constant<value=uint8 "
     "{113}>() f = DequantizeLinear(x, s, z) g2 = DequantizeLinear(v, s, z) a = Add(f, g2) r = Relu(a) y = "
     "QuantizeLinear(r, s, z) }",
     "Add+Relu"},
    {"gate_after_conv",
     "g (uint8[2,8,9,9] x, int8[24,8,3,3] w, uint8[1,24,1,1] v) => (uint8[2,24,a,b] y) { s = "
     "Constant<value_float=0.02>() z = Constant<value=uint8 {113}>() ys = Constant<value_float=0.4>() wz = "
     "Constant<value=int8 {0}>() q = QLinearConv(x, s, z, w, s, wz, ys, z) f = DequantizeLinear(q, ys, z) g2 = "
     "DequantizeLinear(v, s, z) a = Mul(f, g2) y = QuantizeLinear(a, ys, z) }",
     "Mul"},
    {"concat_of_bytes",
     "g (uint8[2,5,7,9] x, int8[2,3,7,9] v) => (uint8[2,13,7,9] y) { s = Constant<value_float=0.05>() z = "
     "Constant<value=uint8 {113}>() vs = Constant<value_float=0.021>() vz = Constant<value=int8 {-7}>() f = "
     "DequantizeLinear(x, s, z) g2 = DequantizeLinear(v, vs, vz) h = DequantizeLinear(x, vs, z) c = Concat<axis=1>(f, "
     "g2, h) r = Relu(c) y = QuantizeLinear(r, s, z) }",
     "Concat+Relu"},
    {"concat_along_the_last_axis",
     "g (uint8[6,5] x, uint8[6,8] v) => (int8[6,13] y) { s = Constant<value_float=0.05>() z = Constant<value=uint8 "
     "{113}>() yz = Constant<value=int8 {-15}>() f = DequantizeLinear(x, s, z) g2 = DequantizeLinear(v, s, z) c = "
     "Concat<axis=-1>(f, g2) y = QuantizeLinear(c, s, yz) }",
     "Concat"},
    {"depthwise_of_70_channels",
     "g (uint8[2,70,13,14] x, uint8[70,1,3,3] w) => (uint8[2,70,a,b] y) { s = Constant<value_float=0.02>() z = "
     "Constant<value=uint8 {113}>() wz = Constant<value=uint8 {120}>() ys = Constant<value_float=0.1>() y = "
     "QLinearConv<group=70, pads=[1, 0, 1, 1], strides=[2, 1]>(x, s, z, w, s, wz, ys, z) }",
     "QLinearConv"},
    {"depthwise_sums",
     "g (int8[1,130,9,9] x, int8[130,1,5,5] w) => (int32[1,130,a,b] y) { z = Constant<value=int8 {-9}>() wz = "
     "Constant<value=int8 {5}>() y = ConvInteger<group=130, pads=[2, 2, 2, 2], dilations=[1, 2]>(x, w, z, wz) }",
     "ConvInteger"},
    {"resize_of_bytes",
     "g (uint8[1,3,5,7] x) => (uint8[1,3,10,14] y, uint8[1,3,15,14] v) { s = Constant<value_float=0.05>() z = "
     "Constant<value=uint8 {113}>() k = Constant<value_floats=[1.0, 1.0, 2.0, 2.0]>() l = Constant<value_floats=[1.0, "
     "1.0, 3.0, 2.0]>() f = DequantizeLinear(x, s, z) r = Resize<mode=\"nearest\", "
     "coordinate_transformation_mode=\"asymmetric\", nearest_mode=\"floor\">(f, , k) y = QuantizeLinear(r, s, z) g2 = "
     "DequantizeLinear(x, s, z) r2 = Resize<mode=\"nearest\", coordinate_transformation_mode=\"asymmetric\", "
     "nearest_mode=\"floor\">(g2, , l) v = QuantizeLinear(r2, s, z) }",
     "Resize"},
    // Large enough for strips.
    {"conv_integer_dynamic_strips",
     "g (float[1,16,130,131] x, uint8[32,16,3,3] w) => (float[1,32,a,b] y) { q, s, z = DynamicQuantizeLinear(x) wz = "
     "Constant<value=uint8 {121}>() c = ConvInteger<pads=[1, 1, 1, 1]>(q, w, z, wz) f = Cast<to=1>(c) y = Mul(f, s) }",
     "ConvInteger+Cast"},
    {"conv_strips_of_two_images",
     "g (uint8[2,16,131,129] x, uint8[32,16,3,3] w) => (uint8[2,32,a,b] y) { s = Constant<value_float=0.02>() z = "
     "Constant<value=uint8 {113}>() wz = Constant<value=uint8 {120}>() ys = Constant<value_float=1.4>() y = "
     "QLinearConv<pads=[1, 1, 1, 1], strides=[1, 1]>(x, s, z, w, s, wz, ys, z) }",
     "QLinearConv"},
    {"depthwise_strips",
     "g (int8[1,32,140,131] x, int8[32,1,3,3] w) => (int8[1,32,a,b] y) { s = Constant<value_float=0.02>() z = "
     "Constant<value=int8 {-7}>() wz = Constant<value=int8 {0}>() ys = Constant<value_float=0.1>() y = "
     "QLinearConv<group=32, pads=[2, 1, 1, 1], dilations=[2, 1]>(x, s, z, w, s, wz, ys, z) }",
     "QLinearConv"},
    {"product_u",
     "g (uint8[2,9,33] x, int8[33,21] w) => (uint8[2,9,21] y) { s = Constant<value_float=0.02>() z = "
     "Constant<value=uint8 {113}>() ws = Constant<value_float=0.013>() wz = Constant<value=int8 {0}>() ys = "
     "Constant<value_float=0.3>() yz = Constant<value=uint8 {121}>() "
     "f = DequantizeLinear(x, s, z) v = DequantizeLinear(w, ws, wz) a = MatMul(f, v) y = QuantizeLinear(a, ys, yz) }",
     "QLinearMatMul"},
    {"gemm_to_floats",
     "g (uint8[7,33] x, int8[3,33] w, float[3] wb) => (float[7,3] y) { s = Constant<value_float=0.02>() z = "
     "Constant<value=uint8 {113}>() ws = Constant<value_floats=[0.01, 0.02, 0.004]>() wz = Constant<value=int8[3] {0, "
     "0, 0}>() "
     "f = DequantizeLinear(x, s, z) v = DequantizeLinear<axis=0>(w, ws, wz) y = Gemm<transB=1>(f, v, wb) }",
     "MatMulInteger"},
    {"qlinear_matmul",
     "g (uint8[2,9,33] x, uint8[33,21] w) => (int8[2,9,21] y) { s = Constant<value_float=0.02>() z = "
     "Constant<value=uint8 {113}>() wz = Constant<value=uint8 {127}>() ys = Constant<value_float=0.3>() yz = "
     "Constant<value=int8 {-3}>() y = QLinearMatMul(x, s, z, w, s, wz, ys, yz) }",
     "QLinearMatMul"},
};

class Halves : public testing::TestWithParam<Case> {};
TEST_P(Halves, FastPathAgreesWithTheReference) { agree(GetParam(), true, 0); }
TEST_P(Halves, FastPathAgreesWithoutOneDnn) { agree(GetParam(), false, 0); }
INSTANTIATE_TEST_SUITE_P(Engine, Halves, testing::ValuesIn(halves),
                         [](const auto& i) { return std::string(i.param.name); });

class ByteModels : public testing::TestWithParam<Case> {};
TEST_P(ByteModels, FastPathAgreesWithTheReference) { agree(GetParam(), true, 1); }
TEST_P(ByteModels, FastPathAgreesWithoutOneDnn) { agree(GetParam(), false, 1); }
INSTANTIATE_TEST_SUITE_P(Engine, ByteModels, testing::ValuesIn(bytes),
                         [](const auto& i) { return std::string(i.param.name); });

TEST(HalfRows, EveryNumberOf16BitsWidensExactly) {
  std::vector<uint16_t> all(65536);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint16_t>(i);
  std::vector<float> got(all.size());
  for (const DType t : {DType::f16, DType::bf16}) {
    (t == DType::f16 ? engine::widen_f16_row : engine::widen_bf16_row)(all.data(), got.data(), 65536);
    const Loaded<float> want(Tensor::of<uint16_t>(t, {65536}, all));
    for (size_t i = 0; i < all.size(); ++i)
      ASSERT_TRUE(std::isnan(got[i]) ? std::isnan(want[static_cast<int64_t>(i)])
                                     : got[i] == want[static_cast<int64_t>(i)])
          << i;
  }
}

TEST(HalfRows, NarrowingRoundsAsTheReferenceDoes) {
  std::vector<float> some;
  for (uint32_t bits = 0; bits < 0xffff0000u; bits += 40503u) some.push_back(std::bit_cast<float>(bits));
  for (uint32_t h = 0; h < 0x7c00u; ++h)  // the middles between two numbers of f16
    some.push_back(static_cast<float>((std::ldexp(1.0 + (h & 0x3ff) / 1024.0, static_cast<int>(h >> 10) - 15) +
                                       std::ldexp(1.0 + ((h & 0x3ff) + 1) / 1024.0, static_cast<int>(h >> 10) - 15)) /
                                      2));
  std::vector<uint16_t> got(some.size());
  for (const DType t : {DType::f16, DType::bf16}) {
    (t == DType::f16 ? engine::narrow_f16_row : engine::narrow_bf16_row)(some.data(), got.data(),
                                                                         static_cast<int64_t>(some.size()));
    const Tensor want = store(t, {static_cast<int64_t>(some.size())}, some);
    for (size_t i = 0; i < some.size(); ++i) {
      if (std::isnan(some[i])) continue;
      ASSERT_EQ(got[i], want.as<uint16_t>()[i]) << some[i];
    }
  }
}

TEST(TransposeBytes, AnySize) {
  for (const int64_t rows : {1, 15, 16, 17, 64, 70, 130})
    for (const int64_t columns : {1, 16, 33, 64, 100, 129}) {
      std::vector<uint8_t> x(static_cast<size_t>(rows * columns)), y(x.size(), 255);
      for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint8_t>(i * 7 + i / 251);
      const int64_t middle = columns / 2;
      engine::transpose_bytes(x.data(), y.data(), rows, columns, 0, middle);
      engine::transpose_bytes(x.data(), y.data(), rows, columns, middle, columns);
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j)
          ASSERT_EQ(y[static_cast<size_t>(j * rows + i)], x[static_cast<size_t>(i * columns + j)])
              << rows << " x " << columns;
    }
}

TEST(QuantizeRows, WhatNoByteIsBecomesTheNearestOne) {
  const float inf = std::numeric_limits<float>::infinity();
  std::vector<float> x(150, 0.25f);
  const float special[] = {NAN, inf, -inf, 3e38f, -3e38f, 0.5f, 1.5f, 2.5f, -0.5f, 126.5f, -128.5f, 1e6f};
  std::copy(std::begin(special), std::end(special), x.begin() + 3);
  std::copy(std::begin(special), std::end(special), x.begin() + 130);  // beyond whole registers
  std::vector<uint8_t> u(x.size());
  std::vector<int8_t> s(x.size());
  engine::quantize_row(x.data(), u.data(), 150, 1, 3);
  engine::quantize_row(x.data(), s.data(), 150, 1, -1);
  const int of_u[] = {0, 255, 0, 255, 0, 3, 5, 5, 3, 129, 0, 255},
            of_s[] = {-128, 127, -128, 127, -128, -1, 1, 1, -1, 125, -128, 127};
  for (const size_t from : {3, 130})
    for (size_t i = 0; i < std::size(special); ++i) {
      EXPECT_EQ(u[from + i], of_u[i]) << special[i];
      EXPECT_EQ(s[from + i], of_s[i]) << special[i];
    }
}

TEST(IntegerRows, ProductsOfTheLargestNumbersAreExact) {
  using engine::panel_columns;
  const int64_t rows = 13, pairs = 500;
  std::vector<int16_t> a(static_cast<size_t>(rows * 2 * pairs), 255),
      panel(static_cast<size_t>(engine::panel_size(pairs)), -255);
  std::vector<int32_t> sums(static_cast<size_t>(rows * panel_columns), 1);
  engine::panel_product(a.data(), 2 * pairs, rows, panel.data(), pairs, sums.data(), panel_columns);
  for (const int32_t s : sums) ASSERT_EQ(s, -255 * 255 * 2 * 500);
}

}  // namespace
}  // namespace cameo::tests
