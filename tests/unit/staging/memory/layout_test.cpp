#include "staging/memory/layout.h"

#include <gtest/gtest.h>

namespace cameo::staging {
namespace {

struct LayoutTest : testing::Test {
  DimContext dims;
  DimFacts facts;
  Dim b = dims.symbol("b"), t = dims.symbol("t");
  Layout plain = Layout::contiguous();

  static Layout with(const Dims& shape, Dims strides) { return strided(shape, std::move(strides), Dim(0), false); }
};

TEST_F(LayoutTest, StridesInOrderAreContiguous) {
  EXPECT_TRUE(with({b, 3, 4}, {12, 4, 1}).is(Layout::Kind::contiguous));
  EXPECT_TRUE(with({b, 1, 4}, {4, 7, 1}).is(Layout::Kind::contiguous));  // the stride of a size of 1 does not count
  EXPECT_TRUE(with({3, b}, {1, 3}).is(Layout::Kind::strided));
}

TEST_F(LayoutTest, SizesOfOneDecideContiguity) {
  EXPECT_EQ(contiguity(facts, {4, 3}, with({4, 3}, {1, 4})).view, Answer::no);
  const Verdict v = contiguity(facts, {t, b}, with({t, b}, {1, t}));
  EXPECT_EQ(v.view, Answer::unknown);
  EXPECT_EQ(v.condition.size(), 2u);
  EXPECT_EQ(contiguity(facts, {t, b}, {}).view, Answer::unknown);
  EXPECT_TRUE(contiguity(facts, {t, b}, {}).condition.empty());  // nothing decides
  facts.assume_range(b, 2, std::nullopt, {});
  facts.assume_range(t, 2, std::nullopt, {});
  EXPECT_EQ(contiguity(facts, {t, b}, with({t, b}, {1, t})).view, Answer::no);
}

TEST_F(LayoutTest, ChannelsLastIsContiguousInItsOwnOrder) {
  const Dims shape{b, 3, 4, 5};
  const Layout last = dense_in_order(shape, {0, 2, 3, 1});
  EXPECT_EQ(contiguity(facts, shape, last, {0, 2, 3, 1}).view, Answer::yes);
  EXPECT_EQ(contiguity(facts, shape, last).view, Answer::no);
  EXPECT_EQ(dense_order(shape, last), (Ints{0, 2, 3, 1}));
}

TEST_F(LayoutTest, AViewNeedsPiecesThatFollowEachOther) {
  const Dims heads{b, 2, t, 8};
  const Layout swapped = with(heads, {Dim(16) * t, 8, 16, 1});
  EXPECT_EQ(viewed(facts, heads, swapped, {b, 2, t, 4, 2}).view, Answer::yes);  // one axis is split
  EXPECT_EQ(viewed(facts, heads, swapped, {b, 2, 1, t, 8}).view, Answer::yes);  // a 1 is put in
  const Verdict merged = viewed(facts, heads, swapped, {b, 2, Dim(8) * t});     // a view if t is 1
  EXPECT_EQ(merged.view, Answer::unknown);
  EXPECT_FALSE(merged.condition.empty());
  EXPECT_EQ(viewed(facts, {4, 3}, with({4, 3}, {1, 4}), {12}).view, Answer::no);
  EXPECT_EQ(viewed(facts, {4, 6}, with({4, 6}, {12, 1}), {2, 2, 6}).view, Answer::yes);
  EXPECT_EQ(viewed(facts, {4, 6}, with({4, 6}, {12, 1}), {8, 3}).view, Answer::no);
}

TEST_F(LayoutTest, ElementwiseResultsKeepTheOrderOfTheFirstThatTells) {
  const Dims shape{4, b};
  const LayoutOperand rows{shape, plain}, columns{shape, with(shape, {1, 4})}, bias{{b}, plain};
  EXPECT_EQ(elementwise_layout(facts, std::vector{rows, columns}, shape), plain);
  EXPECT_EQ(elementwise_layout(facts, std::vector{columns, rows}, shape), columns.layout);
  EXPECT_EQ(elementwise_layout(facts, std::vector{bias, columns}, shape), columns.layout);
  EXPECT_EQ(elementwise_layout(facts, std::vector{LayoutOperand{shape, {}}, rows}, shape), Layout());
}

}  // namespace
}  // namespace cameo::staging
