#include "frontends/pt2/symbols.h"

#include <algorithm>
#include <charconv>

#include "frontends/pt2/program.h"
#include "support/budget.h"

namespace cameo::pt2 {

SymInt sym_int(json::Value v) {
  SymInt out;
  if (!v.is_object()) {
    out.literal = v.integer();  // older files: a plain number
    return out;
  }
  const auto [tag, value] = tagged(v);
  if (tag == "as_int") {
    out.literal = value.integer();
    return out;
  }
  if (value.is_string()) {
    out.expression = value.text();
    return out;
  }
  out.expression = value["expr_str"].text();
  if (json::Value hint = value.present("hint")) {
    if (hint.is_object()) hint = tagged(hint).value;
    if (hint.kind() == json::Kind::integer) out.hint = hint.integer();
  }
  return out;
}

namespace {

constexpr int deepest = 200;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Reads either form: calls `Add(a, b)`, and formulas `2*s0 + (s1 - 1)//2`.
class Parser {
 public:
  Parser(std::string_view text, const SymbolLookup& symbol) : text_(text), symbol_(symbol) {}

  std::optional<Dim> all() {
    auto d = sum(0);
    skip();
    return at_ == text_.size() ? d : std::nullopt;
  }

 private:
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool eat(std::string_view token) {
    skip();
    if (text_.substr(at_).starts_with(token)) return at_ += token.size(), true;
    return false;
  }

  std::optional<Dim> sum(int depth) {
    if (depth > deepest) return std::nullopt;
    auto left = product(depth);
    while (left) {
      if (eat("+")) left = apply(left, product(depth), [](Dim a, Dim b) { return a + b; });
      else if (eat("-")) left = apply(left, product(depth), [](Dim a, Dim b) { return a - b; });
      else break;
    }
    return left;
  }
  std::optional<Dim> product(int depth) {
    auto left = power(depth);
    while (left) {
      if (eat("//")) left = divide(left, power(depth));
      else if (eat("**")) return std::nullopt;
      else if (eat("*")) left = apply(left, power(depth), [](Dim a, Dim b) { return a * b; });
      else if (eat("%")) left = remainder(left, power(depth));
      else break;
    }
    return left;
  }
  std::optional<Dim> power(int depth) {
    constexpr int most = 4096;  // operations of one expression
    checkpoint();
    if (depth > deepest || ++operations_ > most) return std::nullopt;
    if (eat("-")) {
      const auto d = power(depth + 1);
      return d ? std::optional(-*d) : std::nullopt;
    }
    auto base = atom(depth);
    if (base && eat("**")) base = raise(base, power(depth + 1));
    return base;
  }

  std::optional<Dim> atom(int depth) {
    skip();
    if (eat("(")) {
      auto d = sum(depth + 1);
      return eat(")") ? d : std::nullopt;
    }
    if (at_ < text_.size() && is_digit(text_[at_])) return number();
    const size_t start = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    const auto name = text_.substr(start, at_ - start);
    if (name.empty()) return std::nullopt;
    if (!eat("(")) return symbol_(name);
    if (name == "Symbol") return quoted_symbol();
    if (name == "Integer") {
      const bool minus = eat("-");
      auto d = number();
      if (d && minus) d = -*d;
      return eat(")") ? d : std::nullopt;
    }
    std::vector<Dim> args;
    do {
      const auto a = sum(depth + 1);
      if (!a) return std::nullopt;
      args.push_back(*a);
    } while (eat(","));
    return eat(")") ? call(name, args) : std::nullopt;
  }

  std::optional<Dim> number() {
    skip();
    int64_t v = 0;
    const auto r = std::from_chars(text_.data() + at_, text_.data() + text_.size(), v);
    if (r.ec != std::errc()) return std::nullopt;
    at_ = static_cast<size_t>(r.ptr - text_.data());
    if (at_ < text_.size() && text_[at_] == '.') return std::nullopt;  // floats are not sizes
    return Dim(v);
  }

  std::optional<Dim> quoted_symbol() {
    if (!eat("'")) return std::nullopt;
    const size_t end = text_.find('\'', at_);
    if (end == text_.npos) return std::nullopt;
    const auto name = text_.substr(at_, end - at_);
    at_ = std::min(text_.find(')', end), text_.size());
    return eat(")") ? symbol_(name) : std::nullopt;
  }

  template <class F>
  static std::optional<Dim> apply(std::optional<Dim> a, std::optional<Dim> b, F f) {
    return a && b ? std::optional(f(*a, *b)) : std::nullopt;
  }
  static std::optional<Dim> divide(std::optional<Dim> a, std::optional<Dim> b) {
    return a && b && !b->is(0) ? std::optional(floor_div(*a, *b)) : std::nullopt;
  }
  static std::optional<Dim> remainder(std::optional<Dim> a, std::optional<Dim> b) {
    return a && b && !b->is(0) ? std::optional(mod(*a, *b)) : std::nullopt;
  }
  static std::optional<Dim> raise(std::optional<Dim> a, std::optional<Dim> b) {
    if (!a || !b || !b->is_literal() || b->literal() < 0 || b->literal() > 8) return std::nullopt;
    Dim out(1);
    for (int64_t i = 0; i < b->literal(); ++i) out = out * *a;
    return out;
  }

  template <class F>
  static Dim fold(const std::vector<Dim>& args, F f) {
    Dim out = args[0];
    for (size_t i = 1; i < args.size(); ++i) out = f(out, args[i]);
    return out;
  }

  static std::optional<Dim> call(std::string_view name, const std::vector<Dim>& args) {
    if (name == "Add") return fold(args, [](Dim a, Dim b) { return a + b; });
    if (name == "Mul") return fold(args, [](Dim a, Dim b) { return a * b; });
    if (name == "Max") return fold(args, [](Dim a, Dim b) { return max(a, b); });
    if (name == "Min") return fold(args, [](Dim a, Dim b) { return min(a, b); });
    if (args.size() == 2) {
      if (name == "FloorDiv" || name == "CleanDiv") return divide(args[0], args[1]);
      if (name == "Mod" || name == "PythonMod") return remainder(args[0], args[1]);
      if (name == "Pow" || name == "PowByNatural") return raise(args[0], args[1]);
    }
    if (name == "ModularIndexing" && args.size() == 3) return remainder(divide(args[0], args[1]), args[2]);
    if (name == "Identity" && args.size() == 1) return args[0];
    return std::nullopt;
  }

  int operations_ = 0;
  std::string_view text_;
  const SymbolLookup& symbol_;
  size_t at_ = 0;
};

}  // namespace

std::optional<Dim> dim_of(std::string_view expression, const SymbolLookup& symbol) {
  try {
    return Parser(expression, symbol).all();
  } catch (const Error& e) {
    if (e.diag().code.starts_with("dim.")) return std::nullopt;  // overflow: used only as a label
    throw;
  }
}

std::string_view bare_symbol(std::string_view e) {
  constexpr std::string_view head = "Symbol('";
  if (e.starts_with(head)) {
    const size_t end = e.find('\'', head.size());
    if (end == e.npos || e.find(')', end) != e.size() - 1) return {};
    return e.substr(head.size(), end - head.size());
  }
  return !e.empty() && std::all_of(e.begin(), e.end(), [](char c) { return is_letter(c) || is_digit(c); }) &&
                 is_letter(e[0])
             ? e
             : std::string_view();
}

bool is_unread(std::string_view result) {
  constexpr std::string_view mark = "_unused_";
  const size_t at = result.rfind(mark);
  return at != result.npos &&
         std::all_of(result.begin() + static_cast<std::ptrdiff_t>(at + mark.size()), result.end(), is_digit);
}

std::vector<std::string> symbols_in(std::string_view expression) {
  std::vector<std::string> found;
  dim_of(expression, [&](std::string_view name) {
    if (std::find(found.begin(), found.end(), name) == found.end()) found.emplace_back(name);
    return std::optional(Dim(1));
  });
  return found;
}

}  // namespace cameo::pt2
