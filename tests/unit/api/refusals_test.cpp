// What the public functions refuse at once.
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>

#include "cameo/cameo.h"

namespace cameo::tests {

namespace {

cameo::Model net() {
  Builder g("net");
  g.output("y", g.op("Relu", {g.input("x", "f32[batch,4]") * 2.0}));
  return g.model();
}

std::string code_of(const std::function<void()>& call) {
  try {
    call();
    return "";
  } catch (const Error& e) {
    return e.diag().code;
  }
}

}  // namespace

TEST(Refusals, SizesThatNoInputHas) {
  const cameo::Model m = net();
  EXPECT_EQ(code_of([&] { verify(m, m, {.sizes = {{"nope", 3}}}); }), "use.dim");
  EXPECT_EQ(code_of([&] { verify(m, m, {.sizes = {{"batch", 3}}}); }), "");
  EXPECT_EQ(code_of([&] { cameo::random_inputs(m, 0, {{"nope", 3}}); }), "use.dim");
  EXPECT_EQ(code_of([&] { cameo::free_sizes(m, {{"nope", 3}}); }), "use.dim");
  EXPECT_EQ(code_of([&] { cameo::simplify(m, {.check = 1, .check_sizes = {{"nope", 3}}}); }), "use.dim");
  EXPECT_EQ(code_of([&] { cameo::simplify(m, {.check = -1}); }), "use.value");
}

TEST(Refusals, MemoryThatIsNot) {
  const cameo::Session s(net());
  const std::vector<float> x(8, 1);
  float y[8];
  const auto into = [&](void* memory, size_t size) {
    return code_of([&] { s.run({{"f32", {2, 4}, x.data()}}, {.into = {{"y", {memory, size}}}}); });
  };
  EXPECT_EQ(into(nullptr, sizeof y), "use.array");
  EXPECT_EQ(into(y, 4), "run.size");
  EXPECT_EQ(into(y, sizeof y), "");
  EXPECT_EQ(y[7], 2);
}

TEST(Refusals, NullPointersAndEmptyFunctions) {
  EXPECT_EQ(code_of([] { cameo::load_bytes(nullptr, 10); }), "use.null");
  EXPECT_EQ(code_of([] { cameo::load_buffer({nullptr, nullptr, 10}); }), "use.null");
  EXPECT_EQ(code_of([] { cameo::check(cameo::Buffer{nullptr, nullptr, 10}); }), "use.null");
  EXPECT_EQ(code_of([] { cameo::load_from(10, {}); }), "use.null");
  EXPECT_EQ(code_of([] { Builder().weight("w", "f32", {2}, nullptr, 8); }), "use.null");
  EXPECT_EQ(code_of([] {
              Builder().weight("w", cameo::SharedArray{"f32", {2}, {nullptr, nullptr, 8}, {}});
            }),
            "use.array");
  EXPECT_EQ(code_of([] { cameo::quantize(net(), {}); }), "quantize.samples");
  Builder g;
  const Var c = g.input("c", "bool[]");
  EXPECT_EQ(code_of([&] { g.if_else(c, {}, {}); }), "use.null");
  EXPECT_EQ(code_of([&] { g.loop({}, c, {}, {}); }), "use.null");
}

TEST(Refusals, NumbersThatMakeNoSense) {
  const cameo::Model m = net();
  for (const int opset : {-1, 3, 6, 999}) {
    EXPECT_EQ(code_of([&] { m.bytes({.opset = opset}); }), "use.opset");
    EXPECT_EQ(code_of([&] { cameo::convert(m, {.opset = opset}); }), "use.opset");
    EXPECT_EQ(code_of([&] { cameo::quantize_weights(m, {.opset = opset}); }), "use.opset");
    EXPECT_EQ(code_of([&] { cameo::quantize_dynamic(m, {.opset = opset}); }), "use.opset");
    EXPECT_EQ(code_of([&] { cameo::find_operators({.pattern = "add", .opset = opset}); }), "use.opset");
  }
  for (const int threads : {-1, 100000}) {
    EXPECT_EQ(code_of([&] { const cameo::Session s(m, {.threads = threads}); }), "use.value");
    EXPECT_EQ(code_of([&] { cameo::quantize_weights(m, {.threads = threads}); }), "use.value");
  }
  EXPECT_EQ(code_of([&] { cameo::simplify(m, {.unroll = -1}); }), "use.value");
  EXPECT_EQ(code_of([] { const cameo::LimitScope l({.seconds = -1}); }), "use.value");
  EXPECT_EQ(code_of([&] {
              const cameo::LimitScope l({.seconds = 1e300});
              cameo::simplify(m);
            }),
            "");
}

// What was refused leaves nothing behind in the graph.
TEST(Refusals, ABuilderGoesOnAfterThem) {
  Builder g;
  EXPECT_EQ(code_of([&] { g.input("x", "f3[2]"); }), "build.type");
  const Var x = g.input("x", "f32[2]"), c = g.input("c", "bool[]");
  const auto body = [&]() -> std::vector<Var> {
    g.weight("w", {2}, std::vector<float>{1, 2});
    throw std::runtime_error("of the caller's");
  };
  EXPECT_THROW(g.if_else(c, body, body), std::runtime_error);
  EXPECT_THROW(g.loop({}, c, {},
                      [&](Var, const std::vector<Var>&) {
                        return Builder::Turn{{}, body(), {}};
                      }),
               std::runtime_error);
  EXPECT_EQ(code_of([&] {
              g.if_else(
                  c,
                  [&] {
                    return std::vector{x, x};
                  },
                  [&] { return std::vector{x}; });
            }),
            "build.arity");
  EXPECT_EQ(code_of([&] {
              g.if_else(
                  c, [&] { return g.output("y", x), std::vector{x}; }, [&] { return std::vector{x}; });
            }),
            "build.body");
  g.output("y", x + g.weight("w", {2}, std::vector<float>{1, 2}));
  const cameo::Model m = g.model();
  EXPECT_EQ(m.node_count(), 1U);
  EXPECT_TRUE(cameo::check(m).empty());
}

TEST(Refusals, TypesThatAreNot) {
  for (const char* text : {"f3[b,6", "f32[b,6", "f32[b,,6]", "f32[-3]", "", "f32", "[3]"})
    EXPECT_EQ(code_of([&] { Builder().input("x", text); }), "build.type") << text;
  EXPECT_EQ(code_of([&] { Builder().input("x", "f32['a,b',3]"); }), "");
}

}  // namespace cameo::tests
