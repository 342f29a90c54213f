#include "staging/machine/lent.h"

#include <gtest/gtest.h>

#include "support/endian.h"
#include "support/error.h"

namespace cameo::staging {
namespace {

Bytes placeholder(uint64_t stamp, uint64_t index) {
  std::string raw;
  append_le(raw, stamp);
  append_le(raw, index);
  return Bytes::own(raw);
}

LentWeights lent(std::vector<int64_t> sizes, std::vector<int64_t> strides, size_t bytes) {
  LentWeights w;
  w.stamp = 77;
  w.tensors.push_back({std::move(sizes), std::move(strides), 0, Bytes::own(std::vector<std::byte>(bytes))});
  return w;
}

TEST(LentWeights, AreFoundByTheirStamp) {
  const LentWeights w = lent({2, 3}, {3, 1}, 24);
  EXPECT_EQ(w.find(placeholder(77, 0), 4), &w.tensors[0]);
  EXPECT_EQ(w.find(placeholder(78, 0), 4), nullptr);
  EXPECT_EQ(w.find(Bytes::own(std::string_view("77")), 4), nullptr);
}

TEST(LentWeights, StayInsideTheirMemory) {
  EXPECT_THROW(lent({2, 3}, {3, 1}, 20).find(placeholder(77, 0), 4), Error);
  EXPECT_THROW(lent({2, 3}, {3, -1}, 24).find(placeholder(77, 0), 4), Error);
  EXPECT_THROW(lent({INT64_MAX, 3}, {INT64_MAX, 1}, 24).find(placeholder(77, 0), 4), Error);
  EXPECT_THROW(lent({2}, {3, 1}, 24).find(placeholder(77, 0), 4), Error);
  EXPECT_THROW(lent({2, 3}, {3, 1}, 24).find(placeholder(77, 1), 4), Error);
  EXPECT_NE(lent({0, 3}, {3, 1}, 0).find(placeholder(77, 0), 4), nullptr);
}

TEST(HostLowerings, AreNamedByOperatorOrOverload) {
  HostLowerings h;
  h.names = {"mylib::op", "aten::add.Tensor"};
  EXPECT_TRUE(h.has("mylib::op"));
  EXPECT_TRUE(h.has("mylib::op.out"));
  EXPECT_TRUE(h.has("aten::add.Tensor"));
  EXPECT_FALSE(h.has("aten::add.Scalar"));
}

}  // namespace
}  // namespace cameo::staging
