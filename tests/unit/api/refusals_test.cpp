// What the public functions refuse at once.
#include <gtest/gtest.h>

#include <functional>

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

TEST(Refusals, TypesThatAreNot) {
  for (const char* text : {"f3[b,6", "f32[b,6", "f32[b,,6]", "f32[-3]", "", "f32", "[3]"})
    EXPECT_EQ(code_of([&] { Builder().input("x", text); }), "build.type") << text;
  EXPECT_EQ(code_of([&] { Builder().input("x", "f32['a,b',3]"); }), "");
}

}  // namespace cameo::tests
