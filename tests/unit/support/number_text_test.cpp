#include "support/number_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <utility>

namespace cameo::tests {

TEST(NumberText, WritesAsPrintfDoes) {
  for (const double v : {0.0, -0.0, 0.5, 1.25, 99.95, 123456.789, 1e-7, -3.0, 1e21}) {
    char text[64];
    std::snprintf(text, sizeof text, "%.3f", v);
    EXPECT_EQ(fixed_text(v, 3), text);
    std::snprintf(text, sizeof text, "%.6g", v);
    EXPECT_EQ(short_text(v, 6), text);
    std::snprintf(text, sizeof text, "%.4e", v);
    EXPECT_EQ(scientific_text(v, 4), text);
  }
}

TEST(NumberText, ReadsANumberAtTheBeginningAsStrtodDoes) {
  for (const char* text :
       {"1.5", "  -2e3 x", "+0.25", ".5,", "1.", "inf", "-inf", "1e400", "-1e400", "1e-400", "12abc"}) {
    char* end = nullptr;
    const double wanted = std::strtod(text, &end);
    size_t used = 0;
    EXPECT_EQ(leading_double(text, used), wanted) << text;
    EXPECT_EQ(used, static_cast<size_t>(end - text)) << text;
  }
  for (const char* text : {"", "x", "  ", "+", "-", "+-1", "e5"}) {
    size_t used = 7;
    leading_double(text, used);
    EXPECT_EQ(used, 0u) << text;
  }
}

// Also where the size is not in the exponent.
TEST(NumberText, RoundsWhatIsBeyondTheRangeOnce) {
  const std::string zeros(400, '0');
  const double huge = HUGE_VAL;
  for (const auto& [text, wanted] :
       std::initializer_list<std::pair<std::string, double>>{{"1.5e400", huge},
                                                             {"-1.5e400", -huge},
                                                             {"1.5e-400", 0},
                                                             {"1" + zeros, huge},
                                                             {"0." + zeros + "1", 0},
                                                             {"1" + zeros + "e-500", 1e-100},
                                                             {"0." + zeros + "1e500", 1e99},
                                                             {"1.5e-99999999999999999999", 0}}) {
    EXPECT_EQ(parse_double(text), wanted) << text;
    size_t used = 0;
    EXPECT_EQ(leading_double(text, used), wanted) << text;
    EXPECT_EQ(used, text.size()) << text;
  }
  EXPECT_EQ(parse_float("1.5e39"), HUGE_VALF);
  EXPECT_EQ(parse_float("1.5e-60"), 0.0F);
  EXPECT_FALSE(parse_double("0,5"));
  EXPECT_EQ(fraction_text(1), "1.0");
}

}  // namespace cameo::tests
