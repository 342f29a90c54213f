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

TEST(Bug, IsALogicErrorAndNoError) {
  static_assert(std::is_base_of_v<std::logic_error, Bug> && !std::is_base_of_v<Error, Bug> &&
                !std::is_base_of_v<Bug, Error>);
  try {
    invariant(1 + 1 == 3, "numbers add up");
    FAIL() << "nothing was thrown";
  } catch (const Bug& bug) {
    EXPECT_EQ(bug.diag().code, "bug.invariant");
    EXPECT_EQ(bug.diag().exit_code(), 4);
    EXPECT_STREQ(bug.what(), "this is a bug in Cameo: numbers add up");
    EXPECT_EQ(bug.diag().what, bug.what());
    EXPECT_NE(bug.diag().where.line, 0u);
    EXPECT_NE(bug.diag().hint.find("report it"), std::string::npos);
  }
}

TEST(Narrow, RefusesWhatDoesNotFit) {
  EXPECT_EQ(narrow<int8_t>(127), 127);
  EXPECT_THROW(narrow<int8_t>(128), Error);
  EXPECT_THROW(narrow<uint32_t>(-1), Error);
}

}  // namespace cameo::tests
