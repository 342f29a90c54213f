#include <gtest/gtest.h>

#include "ir/dim_facts.h"
#include "ir/dim_view.h"
#include "support/error.h"
#include "unit/ir/random_dim.h"

namespace cameo::tests {
namespace {

// Three sizes and a number that may be negative.
struct World {
  DimContext context;
  std::vector<Dim> symbols{context.symbol("a"), context.symbol("b"), context.symbol("c"),
                           context.symbol("k", SymbolKind::number)};

  std::vector<int64_t> assignment(std::mt19937& random) const {
    return {pick(random, 0, 9), pick(random, 0, 9), pick(random, 0, 40), pick(random, -9, 9)};
  }
  std::vector<Substitution> map(const std::vector<int64_t>& values) const {
    std::vector<Substitution> out;
    for (size_t i = 0; i < values.size(); ++i) out.push_back({symbols[i], values[i]});
    return out;
  }
};

// The dim, or nullopt when its form shows already that it has no value.
std::optional<Dim> try_build(const RandomDim& r, const World& w) {
  try {
    return r.build(w.symbols);
  } catch (const Error& e) {
    EXPECT_TRUE(e.diag().code.starts_with("dim.")) << e.what();
    return std::nullopt;
  }
}

// The value of a view, by the meaning of its form.
std::optional<int64_t> view_value(Dim d, std::span<const Substitution> map) {
  const DimView v = view_of(d);
  if (v.form == DimForm::literal) return v.literal;
  if (v.form != DimForm::sum && v.form != DimForm::product && v.form != DimForm::mod) return evaluate(d, map);
  std::vector<int64_t> args;
  for (const Dim a : v.args) {
    const auto x = v.form == DimForm::mod ? evaluate(a, map) : view_value(a, map);
    if (!x) return std::nullopt;
    args.push_back(*x);
  }
  if (v.form == DimForm::mod) return args[1] == 0 ? std::nullopt : mod(Dim(args[0]), args[1]).known();
  int64_t out = v.form == DimForm::sum ? 0 : 1;
  for (const int64_t x : args) out = v.form == DimForm::sum ? out + x : out * x;
  return out;
}

TEST(DimProperty, NormalFormKeepsTheValue) {
  std::mt19937 random(7);
  World w;
  int checked = 0;
  for (int i = 0; i < 10000; ++i) {
    const RandomDim r = random_dim(random, 1 + i % 4, w.symbols.size());
    const auto d = try_build(r, w);
    for (int j = 0; j < 3; ++j) {
      const auto values = w.assignment(random);
      const auto direct = r.value(values);
      if (!direct) continue;
      ASSERT_TRUE(d) << r.text(w.symbols);
      ++checked;
      const auto map = w.map(values);
      ASSERT_EQ(evaluate(*d, map), direct) << r.text(w.symbols) << " as " << d->text();
      ASSERT_EQ(substitute(*d, map), Dim(*direct)) << r.text(w.symbols);
      ASSERT_EQ(view_value(*d, map), direct) << d->text();
      const DimRange range = range_of(*d);
      ASSERT_TRUE((!range.lo || *range.lo <= *direct) && (!range.hi || *direct <= *range.hi)) << d->text();
    }
  }
  EXPECT_GT(checked, 10000);
}

TEST(DimProperty, TextReadsBack) {
  std::mt19937 random(8);
  World w;
  for (int i = 0; i < 10000; ++i) {
    const RandomDim r = random_dim(random, 1 + i % 4, w.symbols.size());
    const auto d = try_build(r, w);
    if (!d) continue;
    ASSERT_EQ(parse_dim(w.context, d->text()), *d) << d->text();
    // Sums with min and max are tidied when computed, not when read.
    const std::string raw = r.text(w.symbols);
    if (raw.find('m') != raw.npos) continue;
    ASSERT_EQ(parse_dim(w.context, raw), *d) << raw << " as " << d->text();
  }
}

TEST(DimProperty, SubstitutionInStepsIsSubstitutionAtOnce) {
  std::mt19937 random(9);
  World w;
  for (int i = 0; i < 5000; ++i) {
    const RandomDim r = random_dim(random, 1 + i % 4, w.symbols.size());
    const auto values = w.assignment(random);
    const auto d = try_build(r, w);
    if (!d || !r.value(values)) continue;
    const auto map = w.map(values);
    const std::span all(map);
    ASSERT_EQ(substitute(substitute(*d, all.first(2)), all.last(2)), Dim(*r.value(values))) << d->text();
  }
}

class FactsGame {
 public:
  explicit FactsGame(uint32_t seed) : random_(seed), values_(world_.assignment(random_)), map_(world_.map(values_)) {}

  void play() {
    for (int i = 0; i < 6; ++i) assume();
    for (int i = 0; i < 12; ++i) ask();
    facts_.rewind(3);
    for (int i = 0; i < 4; ++i) ask();
  }

 private:
  // A dim that has a value here, and that value.
  struct Valued {
    Dim d;
    int64_t v = 0;
  };
  Valued valued() {
    while (true) {
      const RandomDim r = random_dim(random_, static_cast<int>(random_() % 3), world_.symbols.size());
      const auto v = r.value(values_);
      if (v) return {r.build(world_.symbols), *v};
    }
  }

  // Only true things.
  void assume() {
    const Valued x = valued(), y = valued();
    Answer a = Answer::unknown;
    switch (random_() % 5) {
      case 0: a = facts_.assume_range(x.d, x.v - pick(random_, 0, 2), std::nullopt, {}); break;
      case 1: a = facts_.assume_range(x.d, x.v - pick(random_, 0, 2), x.v + pick(random_, 0, 2), {}); break;
      case 2: {
        const int64_t m = pick(random_, 1, 6);
        a = facts_.assume_multiple(x.d, m, x.v, {});
        break;
      }
      case 3: a = facts_.assume_equal(x.d, y.d + (x.v - y.v), {}); break;
      default: a = x.v == y.v ? Answer::yes : facts_.assume_not_equal(x.d, y.d, {}); break;
    }
    ASSERT_NE(a, Answer::no) << x.d.text() << " = " << x.v << ", " << y.d.text() << " = " << y.v << known();
  }

  void expect(Answer a, bool truth, const std::string& what) {
    ASSERT_TRUE(a == Answer::unknown || (a == Answer::yes) == truth) << what << known();
  }

  void ask() {
    const Valued x = valued(), y = valued();
    const std::string both = cat(x.d.text(), " and ", y.d.text());
    expect(facts_.equal(x.d, y.d), x.v == y.v, cat("equal ", both));
    expect(facts_.less(x.d, y.d), x.v < y.v, cat("less ", both));
    expect(facts_.less_equal(x.d, y.d), x.v <= y.v, cat("less_equal ", both));
    const int64_t m = pick(random_, 1, 6);
    expect(facts_.divisible(x.d, m), x.v % m == 0, cat(x.d.text(), " divisible by ", m));
    const DimRange r = facts_.range(x.d);
    ASSERT_TRUE((!r.lo || *r.lo <= x.v) && (!r.hi || x.v <= *r.hi)) << "range of " << x.d.text() << known();
    const Dim simple = facts_.simplify(x.d);
    ASSERT_EQ(evaluate(simple, map_), x.v) << x.d.text() << " to " << simple.text() << known();
  }

  std::string known() const {
    std::string out = " with";
    for (size_t i = 0; i < values_.size(); ++i) out += cat(" ", symbol_name(world_.symbols[i]), "=", values_[i]);
    for (const DimFact& f : facts_.all()) out += cat("; ", f.text());
    return out;
  }

  std::mt19937 random_;
  World world_;
  std::vector<int64_t> values_;
  std::vector<Substitution> map_;
  DimFacts facts_;
};

TEST(DimProperty, ProofsNeverContradictTheValues) {
  for (uint32_t seed = 0; seed < 1500 && !::testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE(seed);
    FactsGame(seed).play();
  }
}

}  // namespace
}  // namespace cameo::tests
