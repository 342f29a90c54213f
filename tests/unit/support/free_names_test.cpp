#include "support/free_names.h"

#include <gtest/gtest.h>

namespace cameo::support {
namespace {

TEST(FreeNames, NumbersWhatIsCalledAlike) {
  FreeNames names(1);
  names.take("x");
  names.take("x_2");
  EXPECT_EQ(names.give("x"), "x_1");
  EXPECT_EQ(names.give("x"), "x_3");
  EXPECT_EQ(names.give("y"), "y");
  EXPECT_EQ(names.give("y"), "y_1");
  EXPECT_EQ(names.give("x_1"), "x_1_1");
}

TEST(FreeNames, BeginsWhereItIsTold) {
  FreeNames names(2);
  EXPECT_EQ(names.give("boxes"), "boxes");
  EXPECT_EQ(names.give("boxes"), "boxes_2");
}

}  // namespace
}  // namespace cameo::support
