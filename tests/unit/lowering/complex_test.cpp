#include "lowering/complex.h"

#include <gtest/gtest.h>

#include "lowering/loop.h"
#include "support/error.h"

namespace cameo::tests {
namespace {

struct Complex : testing::Test {
  Graph g;
  Lower on{g, g.main()};
  V pair = g.add_input(g.main(), "z", Type::tensor(DType::f32, {Dim(3), Dim(4), Dim(2)}));

  std::vector<std::string> nodes() const {
    std::vector<std::string> out;
    for (const NodeId n : g.nodes(g.main())) out.emplace_back(g[n].op->name);
    return out;
  }
};

TEST_F(Complex, HasTheShapeWithoutThePair) {
  const V z = complex_of_pair(on, pair);
  EXPECT_EQ(on.dtype(z), DType::c64);
  EXPECT_EQ(on.shape(z), (Dims{Dim(3), Dim(4)}));
  EXPECT_EQ(pair_of(on, z).id, pair.id);
}

TEST_F(Complex, MovesActOnBothParts) {
  const V z = on.transpose(complex_of_pair(on, pair), {1, 0});
  EXPECT_EQ(on.dtype(z), DType::c64);
  EXPECT_EQ(on.shape(z), (Dims{Dim(4), Dim(3)}));
  EXPECT_EQ(on.dtype(pair_of(on, z)), DType::f32);
  EXPECT_EQ(on.shape(pair_of(on, z)), (Dims{Dim(4), Dim(3), Dim(2)}));
}

TEST_F(Complex, TheSizeOfAPairIsOneNode) {
  const V size = on.Abs(complex_of_pair(on, pair));
  EXPECT_EQ(on.dtype(size), DType::f32);
  EXPECT_EQ(nodes(), (std::vector<std::string>{"Pair", "ReduceL2"}));
}

TEST_F(Complex, AProductWithARealNumberMultipliesBothParts) {
  const V z = complex_of_pair(on, pair);
  on.Mul(z, on.number(2, DType::c64));
  const auto made = nodes();
  EXPECT_EQ(std::count(made.begin(), made.end(), "Mul"), 2);
}

TEST_F(Complex, WhatHasNoFormIsRefused) {
  const V z = complex_of_pair(on, pair);
  EXPECT_THROW(on.Relu(z), Error);
  EXPECT_THROW(on.to(z, DType::f32), Error);
}

TEST_F(Complex, StoredNumbersBecomePairs) {
  const float raw[] = {1, 2, 3, 4};
  const V z = g.add_constant(Tensor::of<std::complex<float>>(
      DType::c64, {2}, std::span(reinterpret_cast<const std::complex<float>*>(raw), 2)));
  EXPECT_EQ(complex_at(*on.fact(z).tensor(), 1), std::complex<double>(3, 4));
  const auto stored = g.constant(pair_of(on, z));
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->shape(), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(stored->to_doubles(), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(g.constant(parts_of(on, z).im)->to_doubles(), (std::vector<double>{2, 4}));
}

TEST_F(Complex, ALoopCarriesItsState) {
  const Vs end = loop(on, on.int_scalar(Dim(5)), {pair}, [&](V, const Vs& s) -> Vs { return {on.Add(s[0], pair)}; });
  ASSERT_EQ(end.size(), 1u);
  EXPECT_EQ(on.shape(end[0]), on.shape(pair));
  EXPECT_EQ(nodes(), (std::vector<std::string>{"Loop"}));
  EXPECT_EQ(on.region(), g.main());
}

}  // namespace
}  // namespace cameo::tests
