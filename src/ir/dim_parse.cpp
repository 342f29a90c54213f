#include "ir/dim_build.h"
#include "ir/dim_names.h"
#include "support/budget.h"

namespace cameo::ir {
namespace {

constexpr size_t max_text = size_t{1} << 20;
constexpr int max_nesting = 200;
constexpr int max_operations = 4096;  // more than an expression that is kept can have

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool in_name(char c) { return starts_name(c) || is_digit(c); }

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

class DimParser {
 public:
  DimParser(DimContext& context, std::string_view text) : context_(context), table_(context.table()), text_(text) {}

  Dim whole() {
    const Dim d = sum();
    skip_blanks();
    if (sees('/')) fail_with_hint("a quotient needs a rounding", "write floor(a/b) or a//b");
    if (at_ != text_.size()) fail("unexpected text after the size");
    return d;
  }

  [[noreturn]] void fail(std::string what) const { throw make_error(std::move(what)); }

 private:
  Error make_error(std::string what) const {
    Error e = error("text.dim", cat(what, ", at column ", at_ + 1, " of a size"));
    const auto column = static_cast<uint32_t>(at_ + 1);
    return std::move(e).at({.line = 1, .column = column, .source = std::string(text_.substr(0, 200))});
  }
  [[noreturn]] void fail_with_hint(std::string what, std::string hint) const {
    throw make_error(std::move(what)).help(std::move(hint));
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool accept(std::string_view token) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  bool sees(char c) {
    skip_blanks();
    return at_ < text_.size() && text_[at_] == c;
  }
  void expect(std::string_view token) {
    if (!accept(token)) fail(cat("expected '", token, "'"));
  }

  Dim sum() { return sum_after(product()); }
  Dim sum_after(Dim d) {
    while (true) {
      if (accept("+")) d = plain_sum(table_, d, product());
      else if (accept("-")) d = plain_difference(table_, d, product());
      else return d;
    }
  }

  Dim product() {
    Dim d = unary();
    while (true) {
      if (accept("**")) fail("a power belongs to a name or a number");
      if (accept("*")) d = d * unary();
      else if (accept("//")) d = floor_div(d, unary());
      else if (accept("%")) d = mod(d, unary());
      else return d;
    }
  }

  Dim unary() {
    checkpoint();
    if (++operations_ > max_operations) fail("the size has too many operations");
    skip_blanks();
    if (at_ + 1 < text_.size() && text_[at_] == '-' && is_digit(text_[at_ + 1])) return power(number());
    if (++nesting_ > max_nesting) fail("the size is nested too deeply");
    const Dim d = accept("-") ? plain_difference(table_, 0, unary()) : accept("+") ? unary() : power(primary());
    --nesting_;
    return d;
  }

  Dim power(Dim base) {
    if (!accept("**")) return base;
    skip_blanks();
    const Dim exponent = number();
    if (exponent.literal() < 0 || exponent.literal() > DimTable::max_degree) fail("the power is out of range");
    Dim d = 1;
    for (int64_t i = 0; i < exponent.literal(); ++i) d = d * base;
    return d;
  }

  Dim primary() {
    skip_blanks();
    if (at_ >= text_.size()) fail("the size ends too early");
    const char c = text_[at_];
    if (is_digit(c)) return number();
    if (accept("(")) {
      const Dim d = sum();
      expect(")");
      return d;
    }
    const bool quoted = c == '\'';
    if (!quoted && !starts_name(c)) fail("expected a number, a name or '('");
    const std::string name = quoted ? quoted_name() : plain_name();
    if (!accept("(")) return context_.symbol(name);
    const auto function = quoted ? std::nullopt : dim_function(name);
    return function ? call(*function) : opaque_in(table_, name, arguments());
  }

  Dim number() {
    const size_t start = at_;
    const bool negative = at_ < text_.size() && text_[at_] == '-';
    if (negative) ++at_;
    if (at_ >= text_.size() || !is_digit(text_[at_])) fail("expected a number");
    int64_t v = 0;
    for (; at_ < text_.size() && is_digit(text_[at_]); ++at_) {
      const int digit = negative ? '0' - text_[at_] : text_[at_] - '0';
      if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, digit, &v)) {
        at_ = start;
        fail("the number does not fit into 64 bits");
      }
    }
    if (at_ < text_.size() && starts_name(text_[at_])) fail("a name starts with a letter or '_', or is quoted");
    return v;
  }

  // Dots and colons join parts of a name ("x.shape", "ns::n"); anything else is quoted.
  std::string plain_name() {
    const size_t start = at_;
    while (at_ < text_.size()) {
      size_t joint = at_;
      while (joint < text_.size() && (text_[joint] == '.' || text_[joint] == ':')) ++joint;
      if (joint >= text_.size() || !in_name(text_[joint])) break;
      at_ = joint + 1;
    }
    return std::string(text_.substr(start, at_ - start));
  }

  std::string quoted_name() {
    std::string out;
    for (++at_; at_ < text_.size() && text_[at_] != '\''; ++at_) {
      if (text_[at_] != '\\') out += text_[at_];
      else out += escaped();
    }
    expect("'");
    return out;
  }

  // The character that a backslash at at_ stands for; leaves at_ on the last character of the escape.
  char escaped() {
    if (++at_ >= text_.size()) fail("the name is not closed");
    if (text_[at_] == '\'' || text_[at_] == '\\') return text_[at_];
    if (text_[at_] != 'x' || at_ + 2 >= text_.size()) fail("unknown escape in a name");
    const int high = hex_digit(text_[at_ + 1]), low = hex_digit(text_[at_ + 2]);
    if (high < 0 || low < 0) fail("unknown escape in a name");
    at_ += 2;
    return static_cast<char>(high * 16 + low);
  }

  // After "(": the arguments and the closing parenthesis.
  std::vector<Dim> arguments() {
    std::vector<Dim> out;
    if (accept(")")) return out;
    do {
      out.push_back(sum());
      if (out.size() > 4096) fail("too many arguments");
    } while (accept(","));
    expect(")");
    return out;
  }

  Dim call(DimFunction f) {
    if (f == DimFunction::floor || f == DimFunction::ceil || f == DimFunction::trunc) return rounded(f);
    std::vector<Dim> args = arguments();
    if (f == DimFunction::min || f == DimFunction::max || f == DimFunction::broadcast) {
      if (args.empty()) fail("at least one argument is needed");
      return f == DimFunction::broadcast ? broadcast_all(table_, std::move(args))
                                         : extremum(table_, f == DimFunction::max, std::move(args));
    }
    if (args.size() != 2) fail("two arguments are needed");
    switch (f) {
      case DimFunction::ceil_div: return ceil_div(args[0], args[1]);
      case DimFunction::trunc_div: return trunc_div(args[0], args[1]);
      case DimFunction::mod: return mod(args[0], args[1]);
      default: return floor_div(args[0], args[1]);
    }
  }

  // After "floor(": a/b, or something that is whole already.
  Dim rounded(DimFunction f) {
    const Dim first = product();
    if (!accept("/")) {
      const Dim d = sum_after(first);
      if (sees('/')) fail_with_hint("it is not clear what is divided", "write floor((a + b)/c)");
      expect(")");
      return d;
    }
    const Dim divisor = unary();
    if (!sees(')')) fail_with_hint("expected ')' after the divisor", "write floor((a)/(b*c)) + d");
    expect(")");
    if (f == DimFunction::ceil) return ceil_div(first, divisor);
    return f == DimFunction::trunc ? trunc_div(first, divisor) : floor_div(first, divisor);
  }

  DimContext& context_;
  DimTable& table_;
  std::string_view text_;
  size_t at_ = 0;
  int nesting_ = 0, operations_ = 0;
};

}  // namespace

Dim parse_dim(DimContext& context, std::string_view text) {
  if (text.size() > max_text) throw error("text.dim", "the text of a size is too long");
  DimParser parser(context, text);
  try {
    return parser.whole();
  } catch (const Error& e) {
    if (!e.diag().code.starts_with("dim.")) throw;
    parser.fail(e.diag().what);
  }
}

}  // namespace cameo::ir
