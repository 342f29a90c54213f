#include <gtest/gtest.h>

#include "kernels/carrier.h"
#include "ops/eval.h"
#include "ops/on.h"

namespace cameo::tests {
namespace {

struct QuantizeTest : testing::Test {
  Graph g;
  On on{g, g.main()};
  ValueId constant(DType t, std::vector<int64_t> shape, std::vector<float> v) {
    return g.add_constant(store(t, std::move(shape), v));
  }
  // Of a node of constants; inference leaves quantisation as it is.
  std::vector<double> values(ValueId v) {
    EXPECT_EQ(on.fact(v).tensor(), nullptr);
    std::vector<Datum> data;
    for (const ValueId in : g[g[v].def].inputs) data.emplace_back(in ? Datum(*g.constant(in)) : Datum());
    std::vector<const Datum*> inputs;
    for (const Datum& d : data) inputs.push_back(d.kind == Datum::Kind::none ? nullptr : &d);
    return evaluate_node(g[g[v].def], inputs)[0].tensor.to_doubles();
  }
};

TEST_F(QuantizeTest, RoundsToEvenAndSaturates) {
  const ValueId x = constant(DType::f32, {5}, {0.5f, 1.5f, -3, 1000, -0.5f});
  const ValueId y = on.QuantizeLinear(x, constant(DType::f32, {}, {1}), constant(DType::u8, {}, {2}));
  EXPECT_EQ(on.dtype(y), DType::u8);
  EXPECT_EQ(values(y), (std::vector<double>{2, 4, 0, 255, 2}));
}

TEST_F(QuantizeTest, BlocksOfFourBits) {
  const ValueId x = constant(DType::i4, {1, 4}, {-8, 7, 1, 2}), scale = constant(DType::f32, {1, 2}, {1, 10});
  const ValueId y = on.DequantizeLinear(x, scale, {}, {.axis = 1, .block_size = 2});
  EXPECT_EQ(values(y), (std::vector<double>{-8, 7, 10, 20}));
}

TEST_F(QuantizeTest, TypeFromTheAttribute) {
  const ValueId x = g.add_input(g.main(), "x", Type::tensor(DType::f32, {g.dims().symbol("n"), 4}));
  const ValueId scale = constant(DType::f32, {4}, {1, 1, 1, 1});
  const ValueId y = on.QuantizeLinear(x, scale, {}, {.output_dtype = static_cast<int64_t>(DType::i8)});
  EXPECT_EQ(on.fact(y).type.text(), "int8[n,4]");
  EXPECT_THROW(on.QuantizeLinear(x, constant(DType::f32, {3}, {1, 1, 1})), Error);
}

}  // namespace
}  // namespace cameo::tests
