#include "ir/dim.h"

#include <gtest/gtest.h>

#include "ir/dim_view.h"
#include "support/error.h"

namespace cameo::tests {
namespace {

struct TextCase {
  const char* in;
  const char* out;
};

// Symbols are sizes: never negative.
constexpr TextCase normal_forms[] = {
    {"batch", "batch"},
    {"7", "7"},
    {"-3", "-3"},
    {"2*h+1", "2*h + 1"},
    {"1+h*2", "2*h + 1"},
    {"h - 4", "h - 4"},
    {"4 - h", "4 - h"},
    {"w*h", "h*w"},
    {"-h + w", "w - h"},
    {"-h - w", "-h - w"},
    {"h*w*h", "h*h*w"},
    {"h**3", "h*h*h"},
    {"(h + 1)*(h - 1)", "h*h - 1"},
    {"(a + b)*(a - b) + b*b - a*a", "0"},
    {"0*h", "0"},
    {"h - h", "0"},
    // floor division
    {"(w//2)", "floor(w/2)"},
    {"floor(4*n/2)", "2*n"},
    {"floor((4*n + 2)/2)", "2*n + 1"},
    {"floor((4*n + 1)/2)", "2*n"},
    {"floor((2*n + 1)/4)", "floor(n/2)"},
    {"floor(5*n/2)", "2*n + floor(n/2)"},
    {"floor(a*b/b)", "a"},
    {"floor(6*a*b/(3*b))", "2*a"},
    {"floor((a*b + b)/b)", "a + 1"},
    {"floor((a*b + c)/b)", "a + floor(c/b)"},
    {"floor((h + 1)*(w + 1)*64/((h + 1)*64))", "w + 1"},
    {"floor(h/(2*h))", "0"},
    {"floor(n/(n + 1))", "0"},
    {"floor(floor(a/2)/3)", "floor(a/6)"},
    {"floor(floor(a/b)/c)", "floor(a/(b*c))"},
    {"floor((floor(a/2) + 1)/3)", "floor((a - 4)/6) + 1"},
    {"floor((x + 3*m)/3)", "m + floor(x/3)"},
    {"floor((n - 7)/2)", "floor((n - 1)/2) - 3"},
    {"floor(n/-2)", "floor(n/2) - n"},
    {"floor(h*w/c)", "floor(h*w/c)"},
    {"floor((h + 1)/(w + 1))", "floor((h + 1)/(w + 1))"},
    {"ceil(n/4)", "floor((n - 1)/4) + 1"},
    {"floor(n)", "n"},
    {"-(-n//4)", "floor((n - 1)/4) + 1"},
    {"mod(7 - mod(h, 7), 7)", "6 - mod(h - 1, 7)"},
    {"(h + mod(-h, 7))//7", "floor((h - 1)/7) + 1"},
    {"h + mod(-h, 7)", "7*floor((h - 1)/7) + 7"},
    {"-(-(n//2)//3)", "floor((n - 2)/6) + 1"},
    // convolution: (h + 2*p - d*(k - 1) - 1)//s + 1
    {"(h + 2*1 - 1*(3 - 1) - 1)//1 + 1", "h"},
    {"(h + 2*1 - 1*(3 - 1) - 1)//2 + 1", "floor((h - 1)/2) + 1"},
    {"((h - 1)//2 + 1 - 1)//2 + 1", "floor((h - 1)/4) + 1"},
    {"(((h - 1)//2 + 1 - 1)//2 + 1 - 2)//2 + 1", "floor((h - 5)/8) + 1"},
    {"floor(floor((h - 1)/2)/2)", "floor((h - 1)/4)"},
    // modulo
    {"a%2", "mod(a, 2)"},
    {"mod(4*k + r, 4)", "mod(r, 4)"},
    {"mod(n + 3, 4)", "mod(n - 1, 4)"},
    {"2*mod(n, 2) + 3", "2*mod(n, 2) + 3"},
    {"mod(2*n, 4)", "2*mod(n, 2)"},
    {"mod(mod(n, 4), 2)", "mod(n, 2)"},
    {"mod(mod(n, 4), 4)", "mod(n, 4)"},
    {"mod(floor(n/2), 3)", "mod(floor(n/2), 3)"},
    {"4*floor(n/4) + mod(n, 4)", "n"},
    {"n - n//8*8", "mod(n, 8)"},
    {"n//8*8", "8*floor(n/8)"},
    {"8 - mod(n, 8)", "8 - mod(n, 8)"},
    {"mod(a, b)", "mod(a, b)"},
    {"mod(a*b + c, b)", "mod(c, b)"},
    {"mod(n, -3)", "mod(n - 1, 3) - 2"},
    // truncating division
    {"trunc(n/2)", "floor(n/2)"},
    {"trunc((n - 1)/2)", "trunc((n - 1)/2)"},
    {"trunc((1 - n)/2)", "-trunc((n - 1)/2)"},
    {"trunc(-n/2)", "-floor(n/2)"},
    {"trunc((4*n - 4)/2)", "2*n - 2"},
    // min, max
    {"max(n, 0)", "n"},
    {"min(n, 0)", "0"},
    {"max(n, n + 2)", "n + 2"},
    {"min(n + 2, n, n - 1)", "n - 1"},
    {"max(b, max(a, b))", "max(a, b)"},
    {"max(a + 1, b + 1)", "max(a, b) + 1"},
    {"max(2*a, 2*b)", "2*max(a, b)"},
    {"max(max(a + 1, b + 1), c)", "max(a + 1, b + 1, c)"},
    {"max(n - 1, 0)", "max(0, n - 1)"},
    {"min(n, 9223372036854775807)", "n"},
    {"max(0, min(n, 5))", "min(5, n)"},
    {"max(n, min(n, 5))", "n"},
    {"min(n, floor(n/2))", "floor(n/2)"},
    {"max(mod(n, 4), 3)", "3"},
    {"min(a*b + 3, 2)", "2"},
    {"min(n, max(n - 1, 0))", "max(0, n - 1)"},
    {"h + max(a, b)", "h + max(a, b)"},
    // broadcast
    {"broadcast(a, a)", "a"},
    {"broadcast(a, 1)", "a"},
    {"broadcast(4, s)", "4"},
    {"broadcast(1, 1)", "1"},
    {"broadcast(b, broadcast(a, b))", "broadcast(a, b)"},
    {"broadcast(n + 2, m)", "n + 2"},
    {"broadcast(0, m)", "0"},
    // opaque, names
    {"sqrt(a + 0, 2)", "sqrt(a, 2)"},
    {"'my dim' + 1", "'my dim' + 1"},
    {"'batch'", "batch"},
    {"'it\\'s'", "'it\\'s'"},
    {"x.shape + ns::n", "'ns::n' + 'x.shape'"},
    {"'min'(a)", "'min'(a)"},
    {"min", "min"},
    {"FloorDiv(s0, 2)*Mod(s1, 3)", "s1*floor(s0/2) - 3*floor(s0/2)*floor(s1/3)"},
};

TEST(DimText, NormalForms) {
  DimContext context;
  for (const TextCase& c : normal_forms) {
    SCOPED_TRACE(c.in);
    const Dim d = parse_dim(context, c.in);
    EXPECT_EQ(d.text(), c.out);
    EXPECT_EQ(parse_dim(context, d.text()), d) << d.text();
  }
}

TEST(DimText, OrderDoesNotDependOnWhatWasMadeFirst) {
  DimContext one, two;
  two.symbol("z");
  two.symbol("w");
  parse_dim(two, "floor(z/7)*w + 1");
  for (const char* text : {"z*w + floor(w/2)*3 + floor(z/7)*w", "max(z, w, floor(z/7))", "broadcast(z, w, a)"})
    EXPECT_EQ(parse_dim(one, text).text(), parse_dim(two, text).text());
}

TEST(DimText, RefusesWhatIsNoSize) {
  DimContext context;
  for (const char* text :
       {"", "h +", "h/2", "floor(h/2 + 1)", "floor(h - 1/2)", "(h", "h)", "3h", "*h", "'h", "h**x", "mod(h)", "h//0",
        "99999999999999999999", "4611686018427387904*4*h", "'\\q'", "h h", "min()", "broadcast(2, 3)"})
    try {
      parse_dim(context, text);
      ADD_FAILURE() << text;
    } catch (const Error& e) {
      EXPECT_EQ(e.diag().code, "text.dim") << text;
    }
  EXPECT_THROW(parse_dim(context, std::string(100000, '(')), Error);
  EXPECT_THROW(parse_dim(context, std::string(100000, '-')), Error);
}

TEST(Dim, EqualExpressionsAreEqualHandles) {
  DimContext context;
  const Dim h = context.symbol("h"), w = context.symbol("w");
  EXPECT_EQ((h + 1) * (w + 1), h * w + w + h + 1);
  EXPECT_EQ(h, context.symbol("h"));
  EXPECT_FALSE(h == w);
  EXPECT_EQ(floor_div(h * w * 4, w * 2), h * 2);
  EXPECT_EQ((h * w).hash(), (w * h).hash());
  EXPECT_TRUE(h.is_symbol());
  EXPECT_FALSE((h + 1).is_symbol());
  EXPECT_EQ(Dim(3) * 4, Dim(12));
  EXPECT_TRUE(Dim(0).is(0));
}

// The lengths of slices: x[-3:], x[1:], and x[i:] after them.
TEST(Dim, DifferencesWithMinAndMaxCancel) {
  DimContext context;
  const Dim n = context.symbol("n"), m = context.symbol("m");
  EXPECT_EQ(n - max(n - 3, 0), min(n, 3));
  EXPECT_EQ(m + n - max(n - 3, 0), m + min(n, 3));
  EXPECT_EQ(3 - max(3 - n, 0), min(n, 3));
  EXPECT_EQ(min(n, m) + max(0, m - n), m);  // what was cut in two
  EXPECT_EQ(2 * min(n, m + 1) + 1 + 2 * max(0, n - m - 1), 2 * n + 1);
  EXPECT_EQ(max(n, m) - max(n + 2 * m, 3 * m), -2 * m);
  EXPECT_EQ(n - min(n, 1), max(n - 1, 0));
  EXPECT_EQ((n - min(n, 1)) - min(n - min(n, 1), 2), max(n - 3, 0));
  EXPECT_EQ((m + max(n, m)).text(), "m + max(m, n)");
}

TEST(Dim, LiteralsAreExact) {
  EXPECT_EQ(floor_div(Dim(-7), 2), Dim(-4));
  EXPECT_EQ(ceil_div(Dim(-7), 2), Dim(-3));
  EXPECT_EQ(trunc_div(Dim(-7), 2), Dim(-3));
  EXPECT_EQ(mod(Dim(-7), 3), Dim(2));
  EXPECT_EQ(mod(Dim(7), -3), Dim(-2));
  EXPECT_THROW(Dim(INT64_MAX) + 1, Error);
  EXPECT_THROW(-Dim(INT64_MIN), Error);
  EXPECT_THROW(floor_div(Dim(INT64_MIN), -1), Error);
  EXPECT_THROW(Dim(INT64_MAX) * 2, Error);
  EXPECT_THROW(floor_div(Dim(1), 0), Error);
  EXPECT_THROW(broadcast(2, 3), Error);
  DimContext context;
  try {
    context.symbol("n") * INT64_MAX * 2;
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_EQ(e.diag().code, "dim.overflow");
  }
}

TEST(Dim, ContextsDoNotMix) {
  DimContext one, two;
  EXPECT_THROW(one.symbol("n") + two.symbol("n"), Bug);
}

TEST(Dim, SymbolsAreNamedAndFreshOnesAreUnique) {
  DimContext context;
  const Dim n = context.symbol("n"), k = context.symbol("k", SymbolKind::number);
  const Dim f = context.fresh("nonzero"), g = context.fresh("nonzero"), e = context.fresh();
  EXPECT_EQ(symbol_name(f), "_nonzero0");
  EXPECT_EQ(symbol_name(g), "_nonzero1");
  EXPECT_EQ(symbol_name(e), "_0");
  EXPECT_TRUE(is_fresh(f));
  EXPECT_FALSE(is_fresh(n));
  EXPECT_TRUE(mentions_fresh(max(n, f + 1)));
  EXPECT_FALSE(mentions_fresh(max(n, k)));
  EXPECT_EQ(symbol_kind(k), SymbolKind::number);
  EXPECT_EQ(symbols_of(max(k, n * f) + floor_div(n, 2)), (std::vector<Dim>{f, k, n}));
  EXPECT_EQ(max(k, 0).text(), "max(0, k)");
  EXPECT_TRUE(context.has_symbol("k"));
  EXPECT_FALSE(context.has_symbol("q"));
}

TEST(Dim, TooBigBecomesASymbol) {
  DimContext context;
  Dim sum = 0;
  for (int i = 0; i < 64; ++i) sum = sum + context.symbol("s" + std::to_string(i)) * (i + 1);
  EXPECT_FALSE(mentions_fresh(sum));
  const Dim big = sum + context.symbol("one_more");
  EXPECT_TRUE(is_fresh(big));
  EXPECT_EQ(symbol_kind(big), SymbolKind::size);
  EXPECT_EQ(context.symbol("one_more") + sum, big);
  EXPECT_EQ(view_of(big).form, DimForm::symbol);
  EXPECT_EQ(whole_view_of(big).form, DimForm::sum);
  EXPECT_EQ(whole_view_of(big).args.size(), 2u);
  EXPECT_EQ(range_of(big).lo, 0);
  EXPECT_TRUE(mentions_fresh(sum * sum));

  const Dim n = context.symbol("n"), m = context.symbol("m");
  Dim nested = n;
  for (int i = 0; i < 200; ++i) nested = min(max(nested, m - i) * m - i, n + i);
  EXPECT_LT(nested.text().size(), 100000u);
  Dim doubled = n;
  for (int i = 0; i < 200; ++i) doubled = floor_div(doubled + m, doubled + 2);
  EXPECT_LT(doubled.text().size(), 100000u);
  Dim power = n;
  for (int i = 0; i < 20; ++i) power = power * power;
  EXPECT_LT(power.text().size(), 1000u);
}

TEST(Dim, Ranges) {
  DimContext context;
  const Dim k = context.symbol("k", SymbolKind::number);
  struct Case {
    const char* text;
    std::optional<int64_t> lo, hi;
  };
  constexpr auto none = std::nullopt;
  for (const Case& c : std::initializer_list<Case>{{"h*w + 3", 3, none},
                                                   {"5", 5, 5},
                                                   {"h - 4", -4, none},
                                                   {"4 - h", none, 4},
                                                   {"mod(h, 4)", 0, 3},
                                                   {"2*mod(h, 4) - 1", -1, 5},
                                                   {"mod(k, 4)", 0, 3},
                                                   {"k*k", 0, none},
                                                   {"k*h", none, none},
                                                   {"min(h, 7)", 0, 7},
                                                   {"max(k, 2)", 2, none},
                                                   {"max(h, w) - h", 0, none},
                                                   {"floor((h - 1)/2) + 1", 0, none},
                                                   {"h - 2*floor(h/2)", 0, 1},
                                                   {"h - floor(h/2)", 0, none},
                                                   {"mod(floor(h/2), 3)", 0, 2},
                                                   {"broadcast(h, w)", 0, none},
                                                   {"floor(7/(h + 1))", 0, 7}}) {
    const DimRange r = range_of(parse_dim(context, c.text));
    EXPECT_EQ(r.lo, c.lo) << c.text;
    EXPECT_EQ(r.hi, c.hi) << c.text;
  }
  EXPECT_FALSE(range_of(k).lo);
}

TEST(Dim, SubstitutesAndEvaluates) {
  DimContext context;
  const Dim h = context.symbol("h"), w = context.symbol("w");
  const Dim d = parse_dim(context, "floor((h - 1)/2) + max(h, w) + w*w");
  const Substitution both[] = {{h, 9}, {w, 4}};
  EXPECT_EQ(substitute(d, both), Dim(4 + 9 + 16));
  EXPECT_EQ(evaluate(d, both), 29);
  EXPECT_EQ(evaluate(d, {both, 1}), std::nullopt);
  const Substitution swapped[] = {{h, w}, {w, h}};
  EXPECT_EQ(substitute(h - w, swapped), w - h);
  EXPECT_EQ(substitute(d, {}), d);
  const Substitution zero[] = {{h, 0}, {w, 2}};
  EXPECT_EQ(evaluate(floor_div(w, h), zero), std::nullopt);
  EXPECT_EQ(evaluate(broadcast(h, w), both), std::nullopt);
  EXPECT_EQ(evaluate(h * h * h * h, std::array<Substitution, 1>{{{h, int64_t{1} << 40}}}), std::nullopt);
  EXPECT_THROW(substitute(floor_div(w, h), zero), Error);
}

TEST(Dim, Shapes) {
  DimContext context;
  const Shape shape{context.symbol("batch"), 3, context.symbol("h")};
  EXPECT_EQ(shape_text(shape), "batch,3,h");
  EXPECT_EQ(element_count(shape).text(), "3*batch*h");
  EXPECT_EQ(known_shape(shape), std::nullopt);
  EXPECT_EQ(known_shape({2, 3}), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(element_count({}), Dim(1));
}

TEST(DimView, ShowsWhatTextPrints) {
  DimContext context;
  const auto view = [&](const char* text) { return view_of(parse_dim(context, text)); };
  const Dim h = context.symbol("h");
  EXPECT_EQ(view("5").literal, 5);
  EXPECT_EQ(view("h").form, DimForm::symbol);
  EXPECT_EQ(view("h").name, "h");
  EXPECT_EQ(view("h%4").form, DimForm::mod);
  EXPECT_EQ(view("h%4").args, (std::vector<Dim>{h, 4}));
  EXPECT_EQ(view("-2*h*h").args, (std::vector<Dim>{-2, h, h}));
  EXPECT_EQ(view("3*mod(h, 4)").args, (std::vector<Dim>{3, mod(h, 4)}));
  EXPECT_EQ(view("4 - h").args, (std::vector<Dim>{4, -h}));
  EXPECT_EQ(view("floor((h - 1)/2) + 1").form, DimForm::sum);
  EXPECT_EQ(view("floor((h - 1)/2)").args, (std::vector<Dim>{h - 1, 2}));
}

}  // namespace
}  // namespace cameo::tests
