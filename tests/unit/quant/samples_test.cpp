#include "quant/samples/samples.h"

#include <gtest/gtest.h>

#include "unit/engine/models.h"

namespace cameo::tests {
namespace {

std::vector<std::vector<int64_t>> shapes_of(quant::Rows rows) {
  std::vector<std::vector<int64_t>> out;
  for (std::vector<Datum> row; out.size() < 9 && rows.next(row);) out.push_back(row.at(0).tensor.shape());
  return out;
}

TEST(Rows, SplitsACommonFirstAxis) {
  const Model m = model_of("g (float[n,k] x) => (float[n,k] y) { y = Relu(x) }");
  const auto of = [&](std::vector<int64_t> shape) {
    return shapes_of(quant::Rows(m.graph, {Datum(full(DType::f32, std::move(shape), 1))}));
  };
  EXPECT_EQ(of({3, 2}), (std::vector<std::vector<int64_t>>(3, {1, 2})));
  EXPECT_EQ(of({1, 2}), (std::vector<std::vector<int64_t>>{{1, 2}}));
  EXPECT_EQ(of({0, 2}), (std::vector<std::vector<int64_t>>{}));
  // Rows of nothing are one sample: a file of a hundred bytes has a thousand million of them.
  EXPECT_EQ(of({int64_t{1} << 30, 0}), (std::vector<std::vector<int64_t>>{{int64_t{1} << 30, 0}}));
}

}  // namespace
}  // namespace cameo::tests
