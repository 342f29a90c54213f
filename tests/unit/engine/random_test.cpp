// Operators whose outputs ONNX records from numpy's generator: what can be judged is shape, type and statistics.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/session.h"
#include "frontends/text/parse.h"
#include "ops/infer.h"
#include "runtime/reference.h"
#include "support/error.h"

namespace cameo::tests {
namespace {

Model model_of(const char* text) {
  DiagSink diags;
  Model m = parse_text(text, "case", diags);
  infer(m.graph);
  return m;
}

Datum filled(std::vector<int64_t> shape, float value) {
  int64_t n = 1;
  for (const int64_t d : shape) n *= d;
  return Datum(Tensor::of<float>(DType::f32, std::move(shape), std::vector<float>(static_cast<size_t>(n), value)));
}

// By the reference and by a session.
template <class Check>
void both(const Model& m, const std::vector<Datum>& in, Check&& check) {
  check(run_reference(m, in));
  check(Session(m).run(in));
}

TEST(Random, BernoulliDrawsOnesAsOftenAsTold) {
  const Model m = model_of("g (float[100,500] p) => (double[100,500] y) { y = Bernoulli<dtype=11>(p) }");
  both(m, {filled({100, 500}, 0.3f)}, [](const std::vector<Datum>& out) {
    const Tensor& y = out.at(0).tensor;
    EXPECT_EQ(y.dtype(), DType::f64);
    EXPECT_EQ(y.shape(), (std::vector<int64_t>{100, 500}));
    double ones = 0, pairs = 0;
    const auto v = y.as<double>();
    for (size_t i = 0; i < v.size(); ++i) {
      ASSERT_TRUE(v[i] == 0 || v[i] == 1);
      ones += v[i];
      if (i) pairs += v[i] * v[i - 1];
    }
    EXPECT_NEAR(ones / 50000, 0.3, 0.01);    // 5 standard deviations
    EXPECT_NEAR(pairs / 50000, 0.09, 0.01);  // neighbours know nothing of each other
  });
}

TEST(Random, BernoulliOfCertainty) {
  const Model m = model_of("g (float[64] p) => (float[64] y) { y = Bernoulli(p) }");
  for (const float p : {0.0f, 1.0f})
    both(m, {filled({64}, p)}, [&](const std::vector<Datum>& out) {
      for (const float v : out.at(0).tensor.as<float>()) EXPECT_EQ(v, p);
    });
}

TEST(Random, SeedsGiveTheSameDraws) {
  const Model m = model_of(
      "g (float[1000] p) => (float[1000] y, float[1000] z) { y = Bernoulli<seed=3.0>(p) z = Bernoulli<seed=4.0>(p) }");
  const Session s(m);
  const auto first = s.run(std::vector<Datum>{filled({1000}, 0.5f)}),
             second = s.run(std::vector<Datum>{filled({1000}, 0.5f)});
  EXPECT_EQ(first[0].tensor.bytes().text(), second[0].tensor.bytes().text());
  EXPECT_NE(first[0].tensor.bytes().text(), first[1].tensor.bytes().text());
}

TEST(Random, TrainingDropoutZeroesItsShareAndScalesTheRest) {
  const Model m = model_of(
      "g (float[100,500] x) => (float[100,500] y, bool[100,500] kept) { r = Constant<value_float=0.25>() t = "
      "Constant<value=bool {1}>() y, kept = Dropout(x, r, t) }");
  both(m, {filled({100, 500}, 3.0f)}, [](const std::vector<Datum>& out) {
    const auto y = out.at(0).tensor.as<float>();
    const auto kept = out.at(1).tensor.bytes().text();
    EXPECT_EQ(out[1].tensor.dtype(), DType::boolean);
    double zeros = 0;
    for (size_t i = 0; i < y.size(); ++i) {
      ASSERT_EQ(kept[i] != 0, y[i] != 0);
      if (y[i] == 0) ++zeros;
      else EXPECT_FLOAT_EQ(y[i], 4.0f);
    }
    EXPECT_NEAR(zeros / 50000, 0.25, 0.01);
  });
}

}  // namespace
}  // namespace cameo::tests
