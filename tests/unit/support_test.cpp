#include <gtest/gtest.h>

#include "support/bytes.h"
#include "support/error.h"

namespace cameo::tests {

TEST(Error, CarriesPlaceCauseAndHint) {
  try {
    throw error("lower.no-rule", cat("no lowering for ", "aten::unfold"))
        .at({.file = "net.pt", .line = 4})
        .help("use nn.Unfold");
  } catch (const Error& e) {
    EXPECT_EQ(e.exit_code(), 1);
    EXPECT_EQ(e.diag().render(),
              "error[lower.no-rule]: no lowering for aten::unfold\n  --> net.pt:4:1\n   = hint: use nn.Unfold\n");
  }
}

TEST(Error, FirstWordOfTheCodeDecidesTheExitCode) {
  EXPECT_EQ(error("use.flag", "").exit_code(), 2);
  EXPECT_EQ(error("file.truncated", "").exit_code(), 3);
  EXPECT_EQ(error("bug.invariant", "").exit_code(), 4);
}

TEST(Narrow, RefusesWhatDoesNotFit) {
  EXPECT_EQ(narrow<int8_t>(127), 127);
  EXPECT_THROW(narrow<int8_t>(128), Error);
  EXPECT_THROW(narrow<uint32_t>(-1), Error);
}

}  // namespace cameo::tests
