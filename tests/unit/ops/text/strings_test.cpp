#include "../on_graph.h"
#include "ops/text/regex.h"

namespace cameo::tests {
namespace {

using Strings = std::vector<std::string>;

bool matches(std::string_view pattern, std::string_view text) { return Regex(pattern).matches_all_of(text); }

TEST(Regex, Matches) {
  EXPECT_TRUE(matches(R"((www.[\w.-]+\b/?)?[\w.]+\.com)", "www.google.com"));
  EXPECT_FALSE(matches(R"(www\.facebook\.com)", "www.facebook.co.uk"));
  EXPECT_TRUE(matches(R"((\W|^)[\w.\-]{0,25}@(yahoo|gmail)\.com(\W|$))", "account@gmail.com"));
  EXPECT_TRUE(matches("a{2,3}(b|c)*?", "aaabcb"));
  EXPECT_FALSE(matches("a{2,3}", "aaaa"));
  EXPECT_TRUE(matches("(?i)straße[^x]\\x41\\Q.*\\E", "STRAßEyA.*"));
  EXPECT_TRUE(matches("[[:alpha:]]+[^\\d\\s]", "abc!"));
  EXPECT_TRUE(matches("", ""));
  EXPECT_FALSE(matches(".", "\n"));
  EXPECT_TRUE(matches("(?s).", "\n"));
  EXPECT_TRUE(matches("a{,2}", "a{,2}"));  // no count: text
}

TEST(Regex, NeverRunsAway) {
  EXPECT_FALSE(matches("(a*)*b", std::string(3000, 'a')));
  for (const auto pattern : {"(", ")", "[a", "a**", "\\", "\\pL", "a{1001}", "(?<x", "[z-a]",
                             "((((a{1000}){1000}){1000}){1000})", "((((){1000}){1000}){1000})", "\\1", "(?=a)"})
    EXPECT_EQ(code_of([&] { Regex{pattern}; }), "model.regex") << pattern;
  EXPECT_EQ(code_of([&] { Regex{std::string(500, '(')}; }), "model.regex");
}

TEST(Strings, Operators) {
  const auto split = run_op(op::StringSplit{.maxsplit = 1}, {Tensor({2}, Strings{"  a b  c ", ""})}, 2);
  EXPECT_EQ(split[0].tensor, Tensor({2, 2}, Strings{"a", "b  c", "", ""}));
  EXPECT_EQ(split[1].tensor, i64s({2}, {2, 0}));
  EXPECT_EQ(run_op(op::StringSplit{.delimiter = "--"}, {Tensor({}, Strings{"a----b"})})[0].tensor,
            Tensor({3}, Strings{"a", "", "b"}));
  EXPECT_EQ(run_op(op::StringNormalizer{.case_change_action = "UPPER", .stopwords = Strings{"Monday"}},
                   {Tensor({2}, Strings{"monday", "tüe"})})[0]
                .tensor,
            Tensor({1}, Strings{"TÜE"}));
  EXPECT_EQ(run_op(op::StringNormalizer{.stopwords = Strings{"a"}}, {Tensor({1, 1}, Strings{"A"})})[0].tensor,
            Tensor({1, 1}, Strings{""}));
  EXPECT_EQ(code_of([] { run_op(op::RegexFullMatch{.pattern = "a"}, {i64s({1}, {1})}); }), "eval.type");
}

}  // namespace
}  // namespace cameo::tests
