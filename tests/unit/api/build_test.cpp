#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>

#include "frontends/onnx/reader.h"
#include "runtime/reference.h"

#include "cameo/build.h"

namespace cameo::tests {

namespace {

std::string code_of(const std::function<void(Builder&)>& build) {
  Builder g;
  try {
    build(g);
    return "";
  } catch (const Error& e) {
    return e.diag().code;
  }
}

}  // namespace

TEST(Build, TheProgramInTheDocumentRuns) {
  namespace fs = std::filesystem;
  const fs::path before = fs::current_path(), folder = fs::temp_directory_path() / "cameo_build_test";
  fs::create_directories(folder);
  fs::current_path(folder);
  EXPECT_EQ(std::system(CAMEO_BUILD_A_MODEL), 0);
  fs::current_path(before);
  DiagSink diags;
  const ir::Model m = read_onnx((folder / "line.onnx").string(), diags);
  fs::remove_all(folder);
  EXPECT_TRUE(diags.all().empty());
  EXPECT_EQ(m.opsets.at(""), 18);
  const float x[] = {1, 1, 1, 1, 2, 2, 2, 2};
  const std::vector<Datum> inputs = {Datum(Tensor::of<float>(DType::f32, {2, 4}, x))};
  const auto y = run_reference(m, inputs);
  const std::vector<double> wanted = {1.5, 2.5, 3.5, 4.5, 2.5, 4.5, 6.5, 8.5};
  EXPECT_EQ(y.at(0).tensor.to_doubles(), wanted);
}

TEST(Build, InfersAsItGoes) {
  Builder g("net");
  const Var x = g.input("x", "f32[batch,3,h,2*w]");
  const Var w = g.weight("w", {8, 3, 3, 3}, std::vector<float>(216, 0.1f));
  const Var c = g.op("Conv", {x, w}, {{"pads", {1, 1, 1, 1}}, {"strides", {2, 2}}});
  EXPECT_EQ(c.type(), "f32[batch,8,floor((h - 1)/2) + 1,w]");
  const Var y = 1.0 - g.op("Elu", {c}, {{"alpha", 2}}) / 2;
  g.output("y", y);
  EXPECT_EQ(y.type(), c.type());
  EXPECT_NE(g.text().find("Elu<alpha=2.0>"), std::string::npos) << g.text();
  const auto halves = g.op_outputs(2, "Split", {x}, {{"axis", 2}, {"num_outputs", 2}});
  EXPECT_EQ(halves.size(), 2u);
  EXPECT_EQ(g.op("com.example.Op", {x, {}}, {{"names", {"a", "b"}}}).type(), "?");
}

TEST(Build, TakesOperatorsOfOlderOpsets) {
  Builder g;
  const Var x = g.input("x", "f32[batch,1,4]");
  const Var y = g.op_outputs(1, "Squeeze", {x}, {{"axes", {1}}}, 11).at(0);  // an attribute until opset 13
  EXPECT_EQ(y.type(), "f32[batch,4]");
  EXPECT_EQ(g.op_outputs(1, "Upsample",
                         {g.input("i", "f32[1,1,2,2]"), g.weight("s", {4}, std::vector<float>{1, 1, 2, 2})}, {}, 9)
                .at(0)
                .type(),
            "f32[1,1,4,4]");
}

TEST(Build, KnowsItsValues) {
  Builder g;
  const Var x = g.op("com.example.Op", {g.input("x", "f32[batch]")});
  EXPECT_EQ(x.dtype(), "");
  EXPECT_FALSE(x.shape());
  g.set_type(x, "i64[...]");
  EXPECT_EQ(x.dtype(), "i64");
  EXPECT_FALSE(x.shape());
  g.set_type(x, "i64[?,3]");
  EXPECT_EQ(x.shape(), (std::vector<std::string>{"?", "3"}));
  EXPECT_FALSE(x.constant());
  const Var k = g.ints({4, 5});
  EXPECT_EQ(k.constant()->shape, std::vector<int64_t>{2});
  EXPECT_EQ(static_cast<const int64_t*>(k.constant()->memory.data)[1], 5);
}

TEST(Build, GivesAttributesTheTypeOfTheSchema) {
  Builder g;
  const Var x = g.input("x", "f32[1,2,4]");
  EXPECT_EQ(g.op("ReduceMean", {x}, {{"keepdims", 0.0}}).type(), "f32[]");
  EXPECT_EQ(g.op("LpPool", {x}, {{"kernel_shape", 2}}).type(), "f32[1,2,3]");  // a single number is a list of one
  EXPECT_EQ(code_of([](Builder& b) {
              b.op("ReduceMean", {b.input("x", "f32[1]")}, {{"keepdims", 0.5}});
            }),
            "build.attribute");
}

TEST(Build, RefusesWhatDoesNotFit) {
  EXPECT_EQ(code_of([](Builder& g) { g.input("x", "float[3]"); }), "build.type");
  EXPECT_EQ(code_of([](Builder& g) { g.input("x", "f32"); }), "build.type");
  EXPECT_EQ(code_of([](Builder& g) { g.input("x", "f32[-1]"); }), "build.type");
  EXPECT_EQ(code_of([](Builder& g) { g.weight("w", {2}, std::vector<float>{1}); }), "build.weight");
  EXPECT_EQ(code_of([](Builder& g) { g.op("Rleu", {g.input("x", "f32[2]")}); }), "build.operator");
  EXPECT_EQ(code_of([](Builder& g) { g.op("Relu", {}); }), "build.arity");
  EXPECT_EQ(code_of([](Builder& g) { g.op("Elu", {g.input("x", "f32[2]")}, {{"beta", 1}}); }), "build.attribute");
  EXPECT_EQ(code_of([](Builder& g) { g.op("Elu", {g.input("x", "f32[2]")}, {{"alpha", "a"}}); }), "build.attribute");
  EXPECT_EQ(code_of([](Builder& g) { g.op("If", {g.input("x", "bool[]")}); }), "build.body");
  EXPECT_EQ(code_of([](Builder& g) { g.output("y", Var()); }), "build.absent");
  EXPECT_EQ(code_of([](Builder& g) { g.input("a", "f32[2]") + g.input("b", "f32[3]"); }), "infer.broadcast");
  Builder other;
  const Var foreign = other.input("x", "f32[2]");
  EXPECT_EQ(code_of([&](Builder& g) { g.op("Relu", {foreign}); }), "build.foreign");
}

}  // namespace cameo::tests
