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

TEST(Refusals, WhatABuilderIsGiven) {
  const auto built = [](const std::function<void(Builder&, Var x, Var i, Var c)>& add) {
    return code_of([&] {
      Builder g;
      add(g, g.input("x", "f32[2]"), g.input("i", "i64[2]"), g.input("c", "bool[]"));
    });
  };
  EXPECT_EQ(built([](Builder&, Var x, Var i, Var) { x + i; }), "graph.type");
  EXPECT_EQ(built([](Builder& g, Var x, Var, Var) {
              g.if_else(
                  x, [&] { return std::vector{x}; }, [&] { return std::vector{x}; });
            }),
            "graph.type");
  EXPECT_EQ(built([](Builder& g, Var x, Var, Var) {
              g.loop(x, {}, {x}, [](Var, const std::vector<Var>& v) { return Builder::Turn{.carried = v}; });
            }),
            "graph.type");
  EXPECT_EQ(built([](Builder& g, Var x, Var, Var) {
              g.op("LeakyRelu", {x}, {{"alpha", 1.0}, {"alpha", 2.0}});
            }),
            "build.attribute");
  EXPECT_EQ(built([](Builder& g, Var x, Var, Var) { g.op("a.b::C", {x}, {{"k", 1}, {"k", 2}}); }), "build.attribute");
  EXPECT_EQ(built([](Builder& g, Var x, Var, Var) { g.op_outputs(1, "Relu", {x}, {}, 999); }), "use.opset");
  EXPECT_EQ(built([](Builder& g, Var, Var i, Var) { g.number(0.5, i); }), "build.number");
  EXPECT_EQ(built([](Builder& g, Var, Var i, Var) { g.number(1e300, i); }), "build.number");
  EXPECT_EQ(built([](Builder& g, Var, Var, Var c) { g.number(2, c); }), "build.number");
  EXPECT_EQ(built([](Builder& g, Var, Var i, Var) { g.number(-3, i); }), "");
  EXPECT_EQ(built([](Builder& g, Var, Var, Var) { g.input("", "f32[2]"); }), "build.name");
  EXPECT_EQ(built([](Builder& g, Var, Var, Var) { g.input("y", "f32[99999999999999999999]"); }), "build.type");
  // What was refused is not in the graph.
  Builder g;
  const Var x = g.input("x", "f32[2]");
  EXPECT_EQ(code_of([&] { x + g.input("i", "i64[2]"); }), "graph.type");
  g.output("y", x * 2.0);
  EXPECT_EQ(g.model().node_count(), 1U);
}

TEST(Refusals, TolerancesAndDomains) {
  const cameo::Model m = net();
  EXPECT_EQ(code_of([&] { verify(m, m, {.rtol = -1.0}); }), "use.value");
  const cameo::Model archive = cameo::load(CAMEO_SOURCE_DIR "/tests/data/export/blocks.pt");
  EXPECT_EQ(code_of([&] {
              export_model(archive, {.inputs = {"x=f32[b,6]"}, .custom_opsets = {{"", 3}}});
            }),
            "use.custom-opset");
  ExportSettings none{.inputs = {"x=f32[b,6]"}};
  none.lowerings.names = {"aten::relu"};
  none.lowerings.call = [](NodeBuilder&, const LoweringCall&) { return std::vector<LoweringValue>{}; };
  EXPECT_EQ(code_of([&] { export_model(archive, none); }), "use.lowering");
}

TEST(Attributes, OfEveryWidth) {
  const int64_t pad = 1;
  const size_t group = 1;
  Builder g;
  const Var x = g.input("x", "f32[n,3,8,8]");
  const Var w = g.weight("w", {4, 3, 3, 3}, std::vector<float>(108, 0.1F));
  const Var y =
      g.op("Conv", {x, w}, {{"pads", {0, pad, 0, pad}}, {"group", group}, {"auto_pad", std::string_view("NOTSET")}});
  EXPECT_EQ(g.op("LeakyRelu", {y}, {{"alpha", 0.5F}}).type(), "f32[n,4,6,8]");
  EXPECT_EQ(g.op("MaxPool", {y}, {{"kernel_shape", std::vector<int>{2, 2}}, {"strides", {0 + 2, 2}}}).type(),
            "f32[n,4,3,4]");
  EXPECT_EQ(g.op("Constant", {}, {{"value_floats", {1, 0.5}}}).type(), "f32[2]");
  EXPECT_EQ(g.op("Constant", {}, {{"value_strings", {"a", "b"}}}).type(), "str[2]");
  EXPECT_EQ(g.weight("i", {2}, std::vector<int32_t>{1, 2}).type(), "i32[2]");
  EXPECT_EQ(g.weight("b", {2}, std::vector<bool>{true, false}).type(), "bool[2]");
  EXPECT_EQ(cameo::Array::of({2}, std::vector<uint8_t>{1, 2}).dtype, "u8");
  EXPECT_EQ(code_of([] { cameo::Array::of({3}, std::vector<uint8_t>{1, 2}); }), "use.array");
}

TEST(Diff, AModelInMemoryHasTheOpsetThatItIsWrittenIn) {
  const cameo::Model m = net();
  const std::string bytes = m.bytes();
  EXPECT_TRUE(cameo::diff(m, cameo::load_bytes(bytes.data(), bytes.size())).empty());
  EXPECT_FALSE(cameo::diff(m, cameo::convert(m, {.opset = 13}).model).empty());
}

}  // namespace cameo::tests
