#include "ir/dim_facts.h"

#include <gtest/gtest.h>

#include <sstream>

#include "support/error.h"

namespace cameo::tests {
namespace {

std::ostream& operator<<(std::ostream& out, Answer a) {
  return out << (a == Answer::yes ? "yes" : a == Answer::no ? "no" : "unknown");
}

std::string say(Answer a) {
  std::ostringstream out;
  out << a;
  return out.str();
}

// One line each: "assume h >= 3" style facts, then questions, written as small programs.
//   range D LO HI | multiple D M R | equal A ; B | differ A ; B          each answers yes, no or unknown
//   eq? A ; B | lt? A ; B | le? A ; B | div? D ; M | simplify D          ("*" is an open bound)
class Session {
 public:
  std::string run(const std::string& line) {
    std::istringstream in(line);
    std::string verb;
    in >> verb;
    if (verb == "range") {
      std::string d, lo, hi;
      in >> d >> lo >> hi;
      return say(facts.assume_range(dim(d), bound(lo), bound(hi), {}));
    }
    if (verb == "multiple") {
      std::string d;
      int64_t m, r;
      in >> d >> m >> r;
      return say(facts.assume_multiple(dim(d), m, r, {}));
    }
    std::string a, b;
    std::getline(in, a, ';');
    std::getline(in, b);
    if (verb == "simplify") return facts.simplify(dim(a)).text();
    if (verb == "range?") return bounds(facts.range(dim(a)));
    if (verb == "equal") return say(facts.assume_equal(dim(a), dim(b), {}));
    if (verb == "differ") return say(facts.assume_not_equal(dim(a), dim(b), {}));
    if (verb == "eq?") return say(facts.equal(dim(a), dim(b)));
    if (verb == "lt?") return say(facts.less(dim(a), dim(b)));
    if (verb == "le?") return say(facts.less_equal(dim(a), dim(b)));
    if (verb == "div?") return say(facts.divisible(dim(a), dim(b).literal()));
    return "unknown verb " + verb;
  }

  DimContext context;
  DimFacts facts;

 private:
  Dim dim(const std::string& text) { return parse_dim(context, text); }
  static std::optional<int64_t> bound(const std::string& s) {
    return s == "*" ? std::nullopt : std::optional<int64_t>(std::stoll(s));
  }
  static std::string bounds(DimRange r) {
    return cat(r.lo ? std::to_string(*r.lo) : "*", " ", r.hi ? std::to_string(*r.hi) : "*");
  }
};

struct Step {
  const char* line;
  const char* answer;
};
using Program = std::vector<Step>;

const Program programs[] = {
    // nothing known but the form
    {{"eq? h ; h", "yes"},
     {"eq? h ; w", "unknown"},
     {"eq? h ; h + 1", "no"},
     {"eq? 2*h ; 3", "no"},
     {"eq? 2*h ; 2*w + 1", "no"},
     {"lt? h ; h + 1", "yes"},
     {"le? 0 ; h*w", "yes"},
     {"lt? h*w + 3 ; 3", "no"},
     {"lt? h ; w", "unknown"},
     {"div? 4*h + 8 ; 4", "yes"},
     {"div? 4*h + 2 ; 4", "no"},
     {"div? 4*h + 2 ; 2", "yes"},
     {"div? h ; 2", "unknown"},
     {"div? 32*floor(h/32) ; 32", "yes"},
     {"eq? -1 ; h", "no"}},
    // ranges
    {{"range n 1 64", "unknown"},
     {"range n 0 100", "yes"},
     {"range n 65 *", "no"},
     {"range? n", "1 64"},
     {"range? 2*n+1", "3 129"},
     {"lt? 0 ; n", "yes"},
     {"eq? n ; 0", "no"},
     {"simplify max(n, 1)", "n"},
     {"simplify min(n, 64) + 1", "n + 1"},
     {"simplify floor(n/65)", "0"},
     {"simplify trunc((n - 1)/2)", "floor((n - 1)/2)"},
     {"simplify broadcast(n + 1, m)", "n + 1"},
     {"range n 64 *", "unknown"},
     {"simplify n", "64"}},
    {{"range 2*h-1 5 9", "unknown"}, {"range? h", "3 5"}},
    {{"range h-w 1 *", "unknown"},
     {"lt? w ; h", "yes"},
     {"le? h ; w", "no"},
     {"simplify max(h, w)", "h"},
     {"simplify min(2*h, 2*w)", "2*w"},
     {"range? 3*w-3*h", "* -3"},
     {"le? 0 ; floor((h - w)/2)", "yes"}},
    {{"range h*w 1 *", "unknown"}, {"eq? h ; 0", "no"}, {"lt? 0 ; w", "yes"}},
    {{"range h+w 2 8", "unknown"}, {"range? h", "0 8"}, {"range h 8 8", "unknown"}, {"simplify w", "0"}},
    // multiples
    {{"multiple h 32 0", "unknown"},
     {"multiple h 8 0", "yes"},
     {"multiple h 4 1", "no"},
     {"div? h ; 16", "yes"},
     {"div? h + 1 ; 2", "no"},
     {"div? h*w ; 32", "yes"},
     {"div? floor(h/4) ; 8", "yes"},
     {"simplify 32*floor(h/32)", "h"},
     {"simplify mod(h, 32)", "0"},
     {"simplify mod(h + 3, 32)", "3"},
     {"simplify floor((h - 1)/2) + 1", "floor(h/2)"},
     {"simplify 2*floor((h - 1)/2) + 2", "h"},
     {"eq? 4*floor(h/4) ; h", "yes"},
     {"eq? h ; 31", "no"},
     {"range h 1 60", "unknown"},
     {"simplify h", "32"}},
    {{"multiple 4*h+w 4 2", "unknown"}, {"div? w ; 2", "yes"}, {"div? w ; 4", "no"}},
    {{"multiple h 4 3", "unknown"}, {"multiple h 6 1", "unknown"}, {"div? h + 5 ; 12", "yes"}},
    // equalities
    {{"equal s ; t", "unknown"},
     {"equal t ; s", "yes"},
     {"eq? 2*s + 1 ; 2*t + 1", "yes"},
     {"simplify t", "s"},
     {"eq? s ; t + 1", "no"},
     {"equal s ; t + 1", "no"},
     {"equal s ; 4", "unknown"},
     {"simplify t*t", "16"}},
    {{"equal 6*s ; 6*t", "unknown"}, {"eq? s ; t", "yes"}},
    {{"equal 2*s ; 3*t", "unknown"}, {"div? s ; 3", "yes"}, {"div? t ; 2", "yes"}, {"eq? 4*s ; 6*t", "yes"}},
    {{"equal a ; b + c", "unknown"}, {"simplify a - c", "b"}, {"le? b ; a", "yes"}},
    {{"equal s ; t - 3", "unknown"}, {"le? 3 ; t", "yes"}, {"lt? t ; 3", "no"}},
    {{"range s 1 8", "unknown"}, {"equal s ; 2*t", "unknown"}, {"range? t", "1 4"}, {"equal t ; 5", "no"}},
    {{"multiple s 4 0", "unknown"}, {"equal s ; 2*t", "unknown"}, {"div? t ; 2", "yes"}},
    {{"equal floor((h-1)/2)+1 ; 16", "unknown"}, {"range? h", "31 32"}, {"simplify floor((h + 1)/2)", "16"}},
    {{"equal h*w ; h*k", "unknown"}, {"eq? w ; k", "unknown"}, {"eq? h*w - h*k ; 0", "yes"}},
    {{"range h 1 *", "unknown"}, {"equal h*w ; h*k", "unknown"}, {"eq? w ; k", "yes"}},
    {{"equal a*b ; c*d", "unknown"}, {"eq? 2*a*b ; 2*c*d", "yes"}, {"eq? a*b ; c*d + 1", "no"}},
    {{"equal n*h*w*768 ; x*768", "unknown"}, {"simplify x", "h*n*w"}},
    {{"equal a ; b", "unknown"}, {"equal b ; c", "unknown"}, {"equal c ; 7", "unknown"}, {"simplify a + b", "14"}},
    {{"equal x ; floor(h/2)", "unknown"}, {"eq? 2*x ; 2*floor(h/2)", "yes"}, {"le? 2*x ; h", "yes"}},
    {{"equal a + b ; 64", "unknown"}, {"range? a", "0 64"}, {"eq? a ; 65", "no"}, {"eq? a + b ; 64", "yes"}},
    // not equal
    {{"differ n ; 1", "unknown"},
     {"eq? n ; 1", "no"},
     {"eq? 2*n ; 2", "no"},
     {"simplify broadcast(n, m)", "n"},
     {"equal n ; 1", "no"},
     {"differ n ; 0", "unknown"},
     {"range? n", "2 *"},
     {"lt? 1 ; n", "yes"}},
    {{"differ h ; w", "unknown"}, {"range w-h 0 *", "unknown"}, {"lt? h ; w", "yes"}},
    {{"differ n ; 1", "unknown"}, {"equal n ; m", "unknown"}, {"eq? m ; 1", "no"}},
    // broadcasting
    {{"equal n ; 1", "unknown"}, {"simplify broadcast(n, m)", "m"}},
    {{"range n 1 *", "unknown"}, {"range m 1 *", "unknown"}, {"le? 1 ; broadcast(n, m)", "yes"}},
};

TEST(DimFacts, Programs) {
  for (const Program& program : programs) {
    Session session;
    for (const Step& step : program)
      EXPECT_EQ(session.run(step.line), step.answer) << program[0].line << " ... " << step.line;
  }
}

// After any prefix of a program has been undone, the rest of the world is as it was.
TEST(DimFacts, RewindRestoresWhatFollowed) {
  for (const Program& program : programs) {
    Session session;
    const size_t mark = session.facts.mark();
    for (const Step& step : program) session.run(step.line);
    session.facts.rewind(mark);
    EXPECT_TRUE(session.facts.all().empty());
    for (const Step& step : program)
      EXPECT_EQ(session.run(step.line), step.answer) << program[0].line << " ... " << step.line;
  }
}

TEST(DimFacts, RewindsToTheMiddle) {
  Session s;
  s.run("equal a ; b");
  const size_t mark = s.facts.mark();
  s.run("equal b ; 4");
  s.run("range h 3 3");
  EXPECT_EQ(s.run("simplify a + h"), "7");
  const DimFacts copy = s.facts;
  s.facts.rewind(mark);
  EXPECT_EQ(s.run("simplify b + h"), "a + h");
  EXPECT_EQ(copy.simplify(parse_dim(s.context, "a + h")), Dim(7));
  EXPECT_EQ(copy.all().size(), 3u);
  EXPECT_EQ(s.facts.all().size(), 1u);
}

TEST(DimFacts, ContradictionsLeaveNoTrace) {
  Session s;
  s.run("range h 4 8");
  s.run("range w 4 8");
  EXPECT_EQ(s.run("equal h + w ; 20"), "no");
  EXPECT_EQ(s.run("equal h*w ; 3"), "no");
  EXPECT_EQ(s.facts.all().size(), 2u);
  EXPECT_EQ(s.run("range? h"), "4 8");
}

TEST(DimFacts, WhatIsNotTheLeastIsMore) {
  Session s;
  EXPECT_EQ(s.run("range n 0 64"), "unknown");
  EXPECT_EQ(s.run("differ n ; 0"), "unknown");
  EXPECT_EQ(s.run("range? n"), "1 64");
  EXPECT_EQ(s.run("differ n ; 64"), "unknown");
  EXPECT_EQ(s.run("range? n"), "1 63");
  EXPECT_EQ(s.run("range m 1 *"), "unknown");
  EXPECT_EQ(s.run("range 3*m*n * 0"), "no");
}

TEST(DimFacts, SaysWhoSaidSo) {
  DimContext context;
  DimFacts facts;
  const Dim n = context.symbol("batch");
  facts.assume_range(n, 1, 64, {FactSource::user, "--input x", {}});
  facts.assume_multiple(n, 4, 0, {FactSource::archive, "guard", {}});
  facts.assume_not_equal(n, 8, {});
  facts.assume_equal(n, 4, {FactSource::op, "aten::view", {.file = "net.py", .line = 12}});
  std::vector<std::string> texts;
  for (const DimFact& f : facts.all()) texts.push_back(f.text());
  EXPECT_EQ(texts, (std::vector<std::string>{"1 <= batch <= 64 (--input x)", "mod(batch, 4) == 0 (guard)", "batch != 8",
                                             "batch == 4 (aten::view, net.py:12)"}));
}

TEST(DimFacts, HugeNumbersAreUnknownNotWrong) {
  Session s;
  EXPECT_EQ(s.run("lt? -9223372036854775808 ; 9223372036854775807"), "yes");
  EXPECT_EQ(s.run("eq? n - 9223372036854775807 ; 9223372036854775807"), "unknown");
  EXPECT_EQ(s.run("range n 9223372036854775807 *"), "unknown");
  EXPECT_EQ(s.run("lt? 5 ; n"), "yes");
  EXPECT_EQ(s.run("multiple n 9223372036854775807 5"), "unknown");
  EXPECT_EQ(s.run("div? 3*n ; 9223372036854775807"), "unknown");
}

}  // namespace
}  // namespace cameo::tests
