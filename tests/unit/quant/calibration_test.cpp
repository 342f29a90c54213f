#include "quant/calibrate/calibration.h"

#include <gtest/gtest.h>

#include "unit/engine/models.h"
#include "quant/evaluate/evaluation.h"

namespace cameo::tests {

using namespace quant;

ValueId named(const Graph& g, std::string_view name) {
  for (uint32_t i = 0; i < g.value_capacity(); ++i)
    if (g[ValueId(i)].name == name) return ValueId(i);
  return {};
}

// What a session shows is what it returns when it is asked to keep it.
TEST(Observation, ShowsEveryValueAsItIs) {
  const char* texts[] = {
      "g (float[2,3,8,8] x, float[16,3,3,3] w) => (y) { a = Conv<pads=[1,1,1,1]>(x, w)  r = Relu(a)  p = "
      "MaxPool<kernel_shape=[2,2], strides=[2,2]>(r)  s = Sigmoid(p)  m = Mul(p, s)  y = GlobalAveragePool(m) }",
      "g (float[4,6] x, float[6,5] w) => (y) { a = MatMul(x, w)  r = Reshape<allowzero=0>(a, k)  s = Softmax(r)  m = "
      "Add(s, r)  y = "
      "Tanh(m) } ",
      "g (float[9] x) => (y) { a = Relu(x)  i = NonZero(a)  r = Cast<to=1>(i)  s = Exp(r)  y = Neg(s)  p = Neg(x)  m = "
      "Abs(x) }"};
  for (const char* text : texts) {
    std::string source = text;
    if (const auto at = source.find("{ a = MatMul"); at != source.npos) source.insert(at, "<int64[2] k = {5, 4}> ");
    const Model m = model_of(source.c_str());
    std::vector<ValueId> values;
    for (const char* name : {"x", "a", "r", "p", "s", "m", "y"})
      if (const ValueId v = named(m.graph, name)) values.push_back(v);
    engine::SessionOptions keep, observe;
    keep.keep = values;
    observe.observe = values;
    const std::vector<Datum> inputs = inputs_of(m.graph, 1);
    const auto wanted = engine::Session(m, keep).run(inputs);
    size_t seen = 0;
    const engine::Session session(m, observe);
    for (int run = 0; run < 2; ++run)
      session.run(inputs, [&](const engine::Observation& o) {
        ++seen;
        const Tensor& t = wanted[m.graph[m.graph.main()].outputs.size() + o.index].tensor;
        ASSERT_EQ(o.dtype, t.dtype());
        int64_t count = 1;
        for (size_t i = 0; i < o.dims.size(); ++i) {
          EXPECT_EQ(o.dims[i], t.shape()[o.axes[i]]);
          count *= o.dims[i];
        }
        ASSERT_EQ(count, t.count());
        if (o.dtype != DType::f32) return;
        std::vector<float> a(t.as<float>().begin(), t.as<float>().end());
        const auto* first = reinterpret_cast<const float*>(o.bytes.data());
        std::vector<float> b(first, first + count);
        std::sort(a.begin(), a.end()), std::sort(b.begin(), b.end());
        for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-4) << text << " " << o.index;
      });
    EXPECT_EQ(seen, 2 * values.size()) << text;
  }
}

TEST(Calibration, MeansOfChannels) {
  const Model m = model_of("g (float[1,3,4,4] x, float[8,3,1,1] w) => (y) { y = Conv(x, w) }");
  const ValueId x = named(m.graph, "x");
  Calibration c(m, {{x, 1}}, 1);
  std::vector<float> numbers;
  for (int channel = 0; channel < 3; ++channel)
    for (int i = 0; i < 16; ++i) numbers.push_back(static_cast<float>(channel) + (i % 2 ? 1 : -1));
  c.sample(std::vector<Datum>{Datum(Tensor::of<float>(DType::f32, {1, 3, 4, 4}, numbers))});
  ASSERT_TRUE(c.of(x));
  const ChannelMoments& moments = c.of(x)->channels;
  for (size_t channel = 0; channel < 3; ++channel) {
    EXPECT_NEAR(moments.mean(channel), static_cast<double>(channel), 1e-6);
    EXPECT_NEAR(moments.mean_square(channel), static_cast<double>(channel * channel) + 1, 1e-5);
  }
  EXPECT_EQ(c.of(named(m.graph, "y")), nullptr);
}

TEST(Evaluation, PartsOfDifferentSizesAreJudgedAlone) {
  const Model a = model_of("g (float[1,2,8] x) => (y) <float[2,1] k = {100, 1}> { y = Mul(x, k) }");
  const Model b = model_of("g (float[1,2,8] x) => (y) <float[2,1] k = {100, 0.5}> { y = Mul(x, k) }");
  const Evaluator e(a, {inputs_of(a.graph, 1), inputs_of(a.graph, 2)}, {}, 1);
  const Evaluation found = e.measure(b, {});
  ASSERT_EQ(found.outputs.size(), 1u);
  ASSERT_EQ(found.outputs[0].parts.size(), 2u);
  EXPECT_GT(found.outputs[0].all.db(), 30);
  EXPECT_NEAR(found.worst_db(), 6.02, 0.1);
  EXPECT_EQ(e.measure(a, {}).worst_db(), 200);
}

}  // namespace cameo::tests
