#include "quant/calibrate/calibration.h"

#include <gtest/gtest.h>

#include <cmath>

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
  Calibration c(m, {{x, 1}}, {.threads = 1});
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

// It is not looked at, and known as if it were.
TEST(Calibration, WhatASigmoidGivesFollowsFromItsInput) {
  const Model m = model_of("g (float[1,3,40,40] x) => (y) { a = Mul(x, x)  s = Sigmoid(x)  y = Add(a, s) }");
  const ValueId x = named(m.graph, "x"), s = named(m.graph, "s");
  Calibration both(m, {{x, -1}, {s, -1}}, {.threads = 1}), alone(m, {{s, -1}}, {.threads = 1});
  for (uint32_t seed = 1; seed < 4; ++seed)
    both.sample(inputs_of(m.graph, seed)), alone.sample(inputs_of(m.graph, seed));
  for (const Half half : {Half::both, Half::even, Half::odd}) {
    const Histogram &a = both.of(s, half)->histogram, &b = alone.of(s, half)->histogram;
    EXPECT_NEAR(a.min(), b.min(), 1e-6);
    EXPECT_NEAR(a.max(), b.max(), 1e-6);
    EXPECT_EQ(a.seen(), b.seen());
    const Grid u8{8, false, false};
    for (const Method method : {Method::minmax, Method::mse, Method::percentile})
      EXPECT_NEAR(range_of(a, method, u8, 99).high, range_of(b, method, u8, 99).high, 0.02);
  }
}

// However the channels lie, and with numbers that are none.
TEST(Calibration, MomentsOfEveryOrderOfTheAxes) {
  constexpr int64_t channels = 5, side = 40;
  const auto number = [](int64_t c, int64_t i) { return static_cast<float>(c) + (i % 2 ? 1.0f : -1.0f); };
  for (const bool last : {false, true})
    for (const float strange : {0.0f, NAN, INFINITY}) {
      std::vector<float> x(static_cast<size_t>(channels * side * side));
      for (int64_t c = 0; c < channels; ++c)
        for (int64_t i = 0; i < side * side; ++i)
          x[static_cast<size_t>(last ? i * channels + c : c * side * side + i)] = number(c, i);
      if (strange != 0) x[0] = strange;
      quant::ValueStatistics s;
      s.channels.axis = 1;
      if (last) s.add(x, std::vector<int64_t>{1, side, side, channels}, std::vector<size_t>{0, 2, 3, 1});
      else s.add(x, std::vector<int64_t>{1, channels, side, side}, std::vector<size_t>{0, 1, 2, 3});
      for (size_t c = 0; c < static_cast<size_t>(channels); ++c) {
        EXPECT_NEAR(s.channels.mean(c), static_cast<double>(c), 2e-3) << last << strange << c;
        EXPECT_NEAR(s.channels.mean_square(c), static_cast<double>(c * c) + 1, 0.02);
        EXPECT_EQ(s.channels.low[c], c == 0 ? -1.0f : 0.0f);
        EXPECT_EQ(s.channels.high[c], static_cast<float>(c + 1));
      }
      EXPECT_EQ(s.histogram.min(), -1);
      EXPECT_EQ(s.histogram.max(), 5);
    }
}

TEST(Evaluation, PartsOfDifferentSizesAreJudgedAlone) {
  const Model a = model_of("g (float[1,2,8] x) => (y) <float[2,1] k = {100, 1}> { y = Mul(x, k) }");
  const Model b = model_of("g (float[1,2,8] x) => (y) <float[2,1] k = {100, 0.5}> { y = Mul(x, k) }");
  const Evaluator e(a, {inputs_of(a.graph, 1), inputs_of(a.graph, 2)}, {}, {.threads = 1});
  const Evaluation found = e.measure(b, {});
  ASSERT_EQ(found.outputs.size(), 1u);
  ASSERT_EQ(found.outputs[0].parts.size(), 2u);
  EXPECT_GT(found.outputs[0].all.db(), 30);
  EXPECT_NEAR(found.worst_db(), 6.02, 0.1);
  EXPECT_EQ(e.measure(a, {}).worst_db(), 200);
}

}  // namespace cameo::tests
