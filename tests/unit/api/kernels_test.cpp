#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include "support/error.h"

#include "cameo/build.h"
#include "cameo/convert.h"
#include "cameo/kernel.h"
#include "cameo/limits.h"
#include "cameo/quantize.h"
#include "cameo/session.h"
#include "cameo/verify.h"
#include "cameo/weights.h"

namespace cameo::tests {

namespace {

const Kernel scale{.op = "my.domain::Scale", .run = [](KernelCall& call) {
                     const auto x = call.input<float>(0);
                     const auto y = call.output<float>(0, call.shape(0));
                     const auto by = static_cast<float>(call.number("by", 1));
                     for (size_t i = 0; i < x.size(); ++i) y[i] = by * x[i];
                   }};

Kernel with_rule(Kernel k) {
  k.types = [](const KernelTypes& t) { return std::vector{t.input(0).type}; };
  return k;
}

Kernel named(std::string op, std::function<void(KernelCall&)> run) {
  return {.op = std::move(op), .run = std::move(run)};
}

cameo::Model text_model(std::string_view text) { return load_buffer({nullptr, text.data(), text.size()}, "m.onnxtxt"); }

constexpr const char* header = "<ir_version: 8, opset_import: [\"\" : 18, \"my.domain\" : 1]>\n";

std::vector<float> run_floats(const cameo::Session& s, std::vector<int64_t> shape, const std::vector<float>& x) {
  const auto y = s.run({ArrayView("f32", std::move(shape), x.data())});
  const auto got = y[0].as<float>();
  return {got.begin(), got.end()};
}

Diag finding(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.diag();
  }
  return {};
}

cameo::Model chain() {
  return text_model(std::string(header) +
                    "g (float[n,k] x) => (float[n,k] y) { a = Relu(x) b = my.domain.Scale<by=2.0>(a) c = Sigmoid(b) "
                    "d = my.domain.Scale<by=3.0>(c) y = Add(d, b) }");
}

}  // namespace

TEST(Kernels, RunWithARuleAndWithoutOneAtEverySize) {
  const cameo::Model m = chain();
  for (const bool rule : {false, true})
    for (const bool reference : {false, true}) {
      const cameo::Session s(m, {.reference = reference, .kernels = {rule ? with_rule(scale) : scale}});
      for (const int64_t n : {1, 3, 0, 3}) {
        const std::vector<float> x(static_cast<size_t>(n * 2), 0.5F);
        const std::vector<float> wanted(x.size(), 3 * 0.7310586F + 1);
        const auto y = run_floats(s, {n, 2}, x);
        ASSERT_EQ(y.size(), wanted.size());
        for (const float v : y) EXPECT_NEAR(v, wanted[0], 1e-5) << rule << reference << n;
      }
    }
}

TEST(Kernels, RunInBranchesAndLoops) {
  const cameo::Model m = text_model(std::string(header) +
                                    "g (float[n] x, bool c, int64 turns) => (float[n] y, float[n] z) {\n"
                                    "y = If (c) <then_branch = t () => (float[n] a) { a = my.domain.Scale<by=2.0>(x) },"
                                    " else_branch = e () => (float[n] b) { b = Neg(x) }>\n"
                                    "z = Loop (turns, , x) <body = l (int64 i, bool go, float[n] v) => (bool go2, "
                                    "float[n] w) { go2 = Identity(go) w = "
                                    "my.domain.Scale<by=3.0>(v) }> }");
  for (const Kernel& k : {scale, with_rule(scale)}) {
    const cameo::Session s(m, {.kernels = {k}});
    const std::vector<float> x{1, -2};
    const bool yes = true, no = false;
    const int64_t turns = 3;
    for (const bool* c : {&yes, &no}) {
      const auto out = s.run({{"f32", {2}, x.data()}, {"bool", {}, c}, {"i64", {}, &turns}});
      EXPECT_EQ(out[0].as<float>()[1], *c ? -4 : 2);
      EXPECT_EQ(out[1].as<float>()[0], 27);
    }
  }
}

TEST(Kernels, SeveralOutputsOptionalInputsAndEveryAttribute) {
  const cameo::Model m = text_model(std::string(header) +
                                    "g (float[n] x) => (float[m] low, int64[1] count) { low, count = "
                                    "my.domain.Below<limit = 2, names = [\"a\", \"b\"], "
                                    "word = \"w\", sizes = [4, 5]>(x, , x) }");
  const Kernel below = named("my.domain::Below", [](KernelCall& call) {
    EXPECT_EQ(call.outputs, 2u);
    EXPECT_EQ(call.input_count(), 3u);
    EXPECT_FALSE(call.has(1));
    EXPECT_EQ(call.integer("limit"), 2);
    EXPECT_EQ(call.number("limit"), 2.0);
    EXPECT_EQ(call.text("word"), "w");
    EXPECT_EQ(call.integers("sizes"), (std::vector<int64_t>{4, 5}));
    EXPECT_EQ(call.integer("other", 7), 7);
    EXPECT_EQ(std::get<std::vector<std::string>>(call.attribute("names")->value).at(1), "b");
    std::vector<float> low;
    for (const float v : call.input<float>(0))
      if (v < 2) low.push_back(v);
    const auto out = call.output<float>(0, {static_cast<int64_t>(low.size())});
    std::copy(low.begin(), low.end(), out.begin());
    call.output<int64_t>(1, {1})[0] = static_cast<int64_t>(low.size());
  });
  const std::vector<float> x{1, 5, 0};
  const auto out = cameo::Session(m, {.kernels = {below}}).run({{"f32", {3}, x.data()}});
  EXPECT_EQ(out[0].shape, std::vector<int64_t>{2});
  EXPECT_EQ(out[1].as<int64_t>()[0], 2);
}

TEST(Kernels, ReplaceOnnxsOwnWithItsRuleAndItsDefaults) {
  Builder g;
  const Var x = g.input("x", "f32[n,4]");
  g.output("y", g.op("LeakyRelu", {g.op("Relu", {g.op("LeakyRelu", {x})})}, {{"alpha", 0.5}}));
  std::vector<double> seen;
  const Kernel mine = named("LeakyRelu", [&](KernelCall& call) {
    seen.push_back(call.number("alpha"));
    const auto in = call.input<float>(0);
    const auto out = call.output<float>(0, call.shape(0));
    for (size_t i = 0; i < in.size(); ++i) out[i] = in[i] + 1;
  });
  std::vector<Step> steps;
  const std::vector<float> v{1, 2, 3, 4};
  const cameo::Session s(g.model(), {.kernels = {mine}});
  const auto y = s.run({{"f32", {1, 4}, v.data()}}, {.profile = &steps});
  EXPECT_EQ(y[0].as<float>()[3], 6);
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_NEAR(seen[0], 0.01, 1e-6);
  EXPECT_EQ(seen[1], 0.5);
  EXPECT_EQ(std::count_if(steps.begin(), steps.end(), [](const Step& t) { return t.kernel == "custom"; }), 2);
}

TEST(Kernels, GoBeforeFunctionsOfTheModelAndForeignOperators) {
  const cameo::Model m = text_model(
      "<ir_version: 8, opset_import: [\"\" : 18, \"my.domain\" : 1, \"com.microsoft\" : 1]>\n"
      "g (float[n] x) => (float[n] y) { a = my.domain.Scale<by=5.0>(x) b = my.domain.Twice(a) y = "
      "com.microsoft.Gelu(b) }\n"
      "<domain: \"my.domain\", opset_import: [\"\" : 18]> Scale <by> (x) => (y) { y = Neg(x) }\n"
      "<domain: \"my.domain\", opset_import: [\"\" : 18]> Twice (x) => (y) { y = Add(x, x) }");
  const Kernel gelu = named("com.microsoft::Gelu", [](KernelCall& call) { call.give(0, call.value(0)); });
  EXPECT_EQ(run_floats(cameo::Session(m, {.kernels = {scale, gelu}}), {2}, {1, 2}), (std::vector<float>{10, 20}));
}

TEST(Kernels, WhatTheyThrowIsAFindingWithAPlace) {
  const auto failing = [](std::function<void(KernelCall&)> run) {
    return finding([&] {
      run_floats(cameo::Session(chain(), {.kernels = {named("my.domain::Scale", std::move(run))}}), {1, 2}, {1, 2});
    });
  };
  const Diag d = failing([](KernelCall&) { throw std::out_of_range("no such thing"); });
  EXPECT_EQ(d.code, "kernel.failed");
  EXPECT_EQ(d.what, "Scale -> 'b': the kernel of my.domain::Scale failed: no such thing");
  EXPECT_NE(d.where.describe(), "");
  EXPECT_EQ(failing([](KernelCall&) { throw 3; }).code, "kernel.failed");
  EXPECT_EQ(failing([](KernelCall& c) { c.input<double>(0); }).code, "kernel.input");
  EXPECT_EQ(failing([](KernelCall& c) { c.input<float>(4); }).code, "kernel.input");
  EXPECT_EQ(failing([](KernelCall& c) { c.output<float>(1, {2}); }).code, "kernel.result");
  EXPECT_EQ(failing([](KernelCall& c) { c.output<float>(0, {-2}); }).code, "use.array");
  EXPECT_EQ(failing([](KernelCall& c) { c.output_bytes(0, "f3", {2}); }).code, "use.array");
  EXPECT_EQ(failing([](KernelCall&) {}).code, "kernel.result");
  EXPECT_EQ(failing([](KernelCall& c) { c.text("by"); }).code, "use.kernel");
}

TEST(Kernels, ResultsAreHeldAgainstTheRule) {
  Kernel wider = with_rule(scale);
  wider.run = [](KernelCall& call) { call.output<float>(0, {1, 7}); };
  const auto code = [](const Kernel& k) {
    return finding([&] { run_floats(cameo::Session(chain(), {.kernels = {k}}), {1, 2}, {1, 2}); }).code;
  };
  EXPECT_EQ(code(wider), "kernel.result");
  wider.run = [](KernelCall& call) { call.output<double>(0, {1, 2}); };
  EXPECT_EQ(code(wider), "kernel.result");
  Kernel none = scale;
  none.types = [](const KernelTypes&) { return std::vector<std::string>(); };
  EXPECT_EQ(code(none), "kernel.types");
  none.types = [](const KernelTypes&) { return std::vector<std::string>{"f3[2"}; };
  EXPECT_EQ(code(none), "build.type");
  none.types = [](const KernelTypes&) -> std::vector<std::string> { throw std::runtime_error("no"); };
  EXPECT_EQ(code(none), "kernel.failed");
  // Bytes that do not go with the shape.
  const Kernel short_of = named("my.domain::Scale", [](KernelCall& call) {
    static const float two[2] = {};
    call.give(0, SharedArray{"f32", {1 << 20}, {nullptr, two, sizeof two}, {}});
  });
  EXPECT_EQ(code(short_of), "use.array");
}

TEST(Kernels, WhatTheyHandBackOutlivesThem) {
  const Kernel mine = named("my.domain::Scale", [](KernelCall& call) {
    std::vector<float> local(call.input<float>(0).begin(), call.input<float>(0).end());
    call.give(0, SharedArray{"f32", call.shape(0), {nullptr, local.data(), local.size() * 4}, {}});
    std::fill(local.begin(), local.end(), -1.0F);
  });
  const Kernel identity = named("my.domain::Scale", [](KernelCall& call) { call.give(0, call.value(0)); });
  for (const Kernel& k : {mine, identity})
    for (const bool reference : {false, true}) {
      const cameo::Session s(chain(), {.reference = reference, .kernels = {k}});
      const auto y = run_floats(s, {2, 2}, {1, 2, 3, 4});
      EXPECT_NEAR(y.at(0), 1.7310586F, 1e-5);
      EXPECT_NEAR(y.at(3), 4.9820138F, 1e-5);
    }
}

TEST(Kernels, SeveralThreadsAndSessionsInsideKernels) {
  const cameo::Model inner = text_model(std::string(header) + "g (float[n,k] x) => (float[n,k] y) { y = Add(x, x) }");
  const cameo::Session doubled(inner);
  Kernel nested = with_rule(scale);
  nested.run = [&](KernelCall& call) {
    const auto y = doubled.run({call.array(0)});
    const auto out = call.output<float>(0, call.shape(0));
    std::copy(y[0].as<float>().begin(), y[0].as<float>().end(), out.begin());
  };
  nested.types = [&](const KernelTypes& t) {
    cameo::Session(inner).run({ArrayView("f32", {0, 1}, nullptr)});
    return std::vector{t.input(0).type};
  };
  const cameo::Session s(chain(), {.kernels = {nested}});
  std::vector<std::thread> threads;
  std::vector<float> first(4);
  for (size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      first[t] = run_floats(s, {static_cast<int64_t>(t) + 1, 1}, std::vector<float>(t + 1, 0))[0];
    });
  for (std::thread& t : threads) t.join();
  for (const float v : first) EXPECT_NEAR(v, 1, 1e-6);
}

TEST(Kernels, ManyWithoutARuleRunWithFastKernelsBetween) {
  std::string text = std::string(header) + "g (float[n] x0) => (float[n] y) { ";
  for (int i = 0; i < 9; ++i)
    text += "a" + std::to_string(i) + " = my.domain.Scale<by=1.0>(x" + std::to_string(i) + ") x" +
            std::to_string(i + 1) + " = Tanh(a" + std::to_string(i) + ") ";
  const cameo::Model m = text_model(text + "y = Identity(x9) }");
  std::vector<Step> steps;
  const std::vector<float> x(64, 0.5F);
  const cameo::Session s(m, {.kernels = {scale}});
  s.run({{"f32", {64}, x.data()}}, {.profile = &steps});
  for (const Step& t : steps) {
    if (t.op == "Tanh") {
      EXPECT_NE(t.kernel, "reference") << t.node;
    }
  }
}

// A product before and after an operator that only the caller knows.
cameo::Model products() {
  Builder g("products");
  const std::vector<float> w(32 * 32, 0.05F);
  Var x = g.input("x", "f32[n,32]");
  x = g.op("MatMul", {x, g.weight("w", {32, 32}, w)});
  x = g.op("my.domain::Scale", {x}, {{"by", 2.0}});
  g.set_type(x, "f32[n,32]");
  g.output("y", g.op("MatMul", {x, g.weight("v", {32, 32}, w)}));
  return g.model();
}

// Some samples of x.
SampleSource samples_of_x(int count) {
  return [left = count](std::vector<NamedValue>& inputs) mutable {
    if (left-- == 0) return false;
    std::vector<float> x(64);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7) * 0.1F * static_cast<float>(left + 1);
    auto memory = std::make_shared<std::vector<float>>(std::move(x));
    const Buffer bytes{memory, memory->data(), 64 * sizeof(float)};
    inputs.emplace_back("x", SharedArray{"f32", {2, 32}, bytes, {}});
    return true;
  };
}

TEST(Kernels, AreUsedByQuantization) {
  const cameo::Model m = products();
  EXPECT_EQ(finding([&] { quantize(m, samples_of_x(4)); }).code, "eval.no-kernel");
  for (const Kernel& k : {scale, with_rule(scale)}) {
    const Quantized q = quantize(m, samples_of_x(4), {.kernels = {k}});
    EXPECT_GT(q.report.db, 20);
    EXPECT_EQ(q.report.int8_macs, 1);
    EXPECT_NEAR(run_floats(cameo::Session(q.model, {.kernels = {k}}), {1, 32}, std::vector<float>(32, 0.5F))[0], 2.56,
                0.1);
  }
}

TEST(Kernels, AreUsedByWeightsInFewBitsAndHalfPrecision) {
  const cameo::Model m = products();
  EXPECT_EQ(finding([&] { quantize_weights(m, {.method = "gptq"}, samples_of_x(4)); }).code, "eval.no-kernel");
  const WeightQuantized q = quantize_weights(m, {.method = "gptq", .kernels = {scale}}, samples_of_x(4));
  EXPECT_TRUE(q.report.weights[1].quantized);
  const Converted alone = convert(m, {.float_type = FloatType::f16});
  EXPECT_FALSE(alone.half.error);
  const Converted h = convert(m, {.float_type = FloatType::f16, .kernels = {scale}});
  ASSERT_TRUE(h.half.error);
  EXPECT_LE(*h.half.error, 0.01);
}

TEST(Kernels, AreUsedByVerify) {
  const cameo::Model m = chain();
  const cameo::Model other = text_model(std::string(header) +
                                        "g (float[n,k] x) => (float[n,k] y) { two = Constant<value_float=2.0>() three "
                                        "= Constant<value_float=3.0>() a = Relu(x) "
                                        "b = Mul(a, two) c = Sigmoid(b) d = Mul(c, three) y = Add(d, b) }");
  EXPECT_TRUE(verify(m, other, {.kernels = {scale}}).agree);
  EXPECT_EQ(finding([&] { verify(m, other); }).code, "eval.no-kernel");
  const Kernel wrong = named("my.domain::Scale", [](KernelCall& call) { call.give(0, call.value(0)); });
  const Verified v = verify(m, other, {.kernels = {wrong}});
  EXPECT_FALSE(v.agree);
  EXPECT_EQ(v.first_difference.substr(0, 3), "'b'");
}

TEST(Kernels, WrongOnesAreRefusedAtOnce) {
  const auto code = [](std::vector<Kernel> kernels) {
    return finding([&] { cameo::Session(chain(), {.kernels = std::move(kernels)}); }).code;
  };
  EXPECT_EQ(code({scale, scale}), "use.kernel");
  EXPECT_EQ(code({{.op = "my.domain::Scale"}}), "use.kernel");
  EXPECT_EQ(code({named("", scale.run)}), "use.kernel");
  EXPECT_EQ(code({named("my.domain::", scale.run)}), "use.kernel");
  EXPECT_EQ(code({named("Loop", scale.run)}), "use.kernel");
  EXPECT_EQ(code({named("NoSuchOperator", scale.run)}), "use.kernel");
  EXPECT_EQ(code({named("other::Op", scale.run)}), "");
}

}  // namespace cameo::tests
