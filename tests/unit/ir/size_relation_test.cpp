#include "ir/size_relation.h"

#include <gtest/gtest.h>

#include "support/error.h"

namespace cameo::tests {
namespace {

TEST(SizeRelation, ReadsWhatItWrites) {
  DimContext names;
  for (const char* text : {"t != 1", "n == 2*m", "2 <= t", "t < 4*h + 1"}) {
    const auto all = parse_conditions(names, text);
    ASSERT_EQ(all.size(), 1u) << text;
    EXPECT_EQ(all[0].text(), text);
  }
  EXPECT_EQ(joined_text(parse_conditions(names, "2 <= t <= 64")), "2 <= t; t <= 64");
  EXPECT_EQ(joined_text(parse_conditions(names, "t > 1")), "1 < t");
  EXPECT_EQ(joined_text(split_conditions(names, "t != 1; what is this; n == m")), "t != 1; n == m");
  EXPECT_THROW(parse_conditions(names, "t"), Error);
  EXPECT_THROW(parse_conditions(names, "t = 1"), Error);
  EXPECT_THROW(parse_conditions(names, ""), Error);
}

TEST(SizeRelation, HoldsForSizes) {
  DimContext names;
  const Dim t = names.symbol("t"), n = names.symbol("n");
  const Substitution sizes[] = {{t, Dim(1)}};
  EXPECT_EQ(parse_conditions(names, "t != 1")[0].holds(sizes), std::optional(false));
  EXPECT_EQ(parse_conditions(names, "t <= 1")[0].holds(sizes), std::optional(true));
  EXPECT_EQ(parse_conditions(names, "t < 1")[0].holds(sizes), std::optional(false));
  EXPECT_EQ(parse_conditions(names, "n == t")[0].holds(sizes), std::nullopt);
  DimFacts facts;
  EXPECT_EQ(parse_conditions(names, "2 <= t")[0].assume(facts, {FactSource::user, "--assume", {}}), Answer::unknown);
  EXPECT_EQ(facts.equal(t, Dim(1)), Answer::no);
  EXPECT_EQ(parse_conditions(names, "t == 1")[0].assume(facts, {FactSource::user, "--assume", {}}), Answer::no);
  EXPECT_EQ(facts.equal(n, Dim(1)), Answer::unknown);
}

TEST(SizeRelation, ConventionsDoNotAnswerQuestions) {
  DimContext names;
  const Dim n = names.symbol("n"), m = names.symbol("m");
  DimFacts facts;
  facts.assume_range(n, 1, std::nullopt, {FactSource::convention, "sizes of inputs are at least 1", {}});
  facts.assume_range(m, 1, 64, {FactSource::user, "--input x", {}});
  EXPECT_EQ(facts.equal(n, Dim(0)), Answer::no);
  EXPECT_EQ(facts.surely_equal(n, Dim(0)), Answer::unknown);
  EXPECT_EQ(facts.surely_less(Dim(0), n), Answer::unknown);
  EXPECT_EQ(facts.surely_equal(n * m, Dim(0)), Answer::unknown);
  EXPECT_EQ(facts.surely_equal(m, Dim(0)), Answer::no);
  EXPECT_EQ(facts.surely_less(m, Dim(65)), Answer::yes);
  EXPECT_EQ(facts.surely_equal(n + Dim(1), Dim(0)), Answer::no);  // that it is a size is not a convention
  EXPECT_EQ(facts.surely_less_equal(Dim(0), n), Answer::yes);
}

}  // namespace
}  // namespace cameo::tests
