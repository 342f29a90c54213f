#include <charconv>
#include <cmath>
#include <limits>

#include "frontends/torchscript/parser.h"
#include "support/error.h"

namespace cameo::torchscript {

namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
}  // namespace

void Parser::above(Expr* n, const Expr* child) {
  if (child->height < n->height) return;
  if (child->height >= max_depth)
    fail("code nested too deeply", "a model written by PyTorch nests some dozens of levels");
  n->height = static_cast<uint16_t>(child->height + 1);
}

void Parser::above(Expr* n, Exprs children) {
  for (const Expr* child : children) above(n, child);
}

const Expr* Parser::expr() {
  const Deeper deeper(*this);
  return postfix(atom());
}

const Expr* Parser::atom() {
  switch (token_.kind) {
    case Tok::identifier: return name_or_special();
    case Tok::integer:
    case Tok::floating:
    case Tok::imaginary: return number(false);
    case Tok::minus: advance(); return number(true);
    case Tok::string: return string_literal(false);
    case Tok::open_paren: return parenthesised();
    case Tok::open_bracket: return list_literal();
    case Tok::open_brace: return dict_literal();
    case Tok::keyword: break;
    default: fail("an expression is missing here");
  }
  const Pos start = here();
  if (accept(Word::kw_none)) return node<NoneLiteral>(start);
  if (at(Word::kw_true) || at(Word::kw_false)) {
    auto* n = node<BoolLiteral>(start);
    n->value = at(Word::kw_true);
    advance();
    return n;
  }
  fail(cat("an expression cannot start with '", token_.text, "'"));
}

const Expr* Parser::postfix(const Expr* base) {
  for (;;) {
    if (at(Tok::open_paren)) {
      base = call(base);
    } else if (at(Tok::open_bracket)) {
      base = index(base);
    } else if (at(Tok::dot)) {
      const bool number = base->as<IntegerLiteral>() || base->as<FloatLiteral>() || base->as<ComplexLiteral>();
      if (number && !base->parenthesised) fail("a number has no attributes");
      advance();
      auto* n = node<Attribute>(base->pos);
      n->object = base;
      n->name = expect_any_name("an attribute's name after '.'").text;
      above(n, base);
      base = n;
    } else {
      return base;
    }
  }
}

// A number, `inf` or `nan`, or a complex literal that starts with one. The sign has been read.
const Expr* Parser::number(bool negative) {
  const Token t = token_;
  const Pos start = {pos(t).offset - (negative ? 1u : 0u)};
  advance();
  const double sign = negative ? -1.0 : 1.0;
  switch (t.kind) {
    case Tok::integer: {
      uint64_t magnitude = 0;
      const auto result = std::from_chars(t.text.data(), t.text.data() + t.text.size(), magnitude);
      const uint64_t limit = (uint64_t{1} << 63) - (negative ? 0 : 1);
      if (result.ec != std::errc() || magnitude > limit) lexer_.fail(t.offset, "an integer that does not fit 64 bits");
      if (at(Tok::plus) || at(Tok::minus)) return complex_tail(sign * static_cast<double>(magnitude), start);
      auto* n = node<IntegerLiteral>(start);
      n->value = static_cast<int64_t>(negative ? ~magnitude + 1 : magnitude);
      return n;
    }
    case Tok::floating: return float_literal(sign * parse_double(t.text), start);
    case Tok::imaginary: {
      auto* n = node<ComplexLiteral>(start);
      n->imaginary = sign * parse_double(t.text);
      n->imaginary_only = true;
      return n;
    }
    case Tok::identifier:
      if (t.text == "inf") return float_literal(sign * infinity, start);
      if (t.text == "nan") return float_literal(std::copysign(not_a_number, sign), start);
      [[fallthrough]];
    default: lexer_.fail(t.offset, "only a number can follow '-'", "PyTorch prints all arithmetic as calls");
  }
}

const Expr* Parser::float_literal(double value, Pos start) {
  if (at(Tok::plus) || at(Tok::minus)) return complex_tail(value, start);
  auto* n = node<FloatLiteral>(start);
  n->value = value;
  return n;
}

const Expr* Parser::complex_tail(double real, Pos start) {
  const double sign = at(Tok::minus) ? -1.0 : 1.0;
  advance();
  const Token t = token_;
  advance();
  auto* n = node<ComplexLiteral>(start);
  n->real = real;
  if (t.kind == Tok::imaginary) n->imaginary = sign * parse_double(t.text);
  else if (t.text == "infj") n->imaginary = sign * infinity;
  else if (t.text == "nanj") n->imaginary = std::copysign(not_a_number, sign);
  else lexer_.fail(t.offset, "a complex number's imaginary part is missing", "PyTorch prints all arithmetic as calls");
  return n;
}

const Expr* Parser::name_or_special() {
  const Token t = token_;
  advance();
  if (const Expr* n = special(t)) return n;
  auto* n = node<Name>(pos(t));
  n->name = t.text;
  n->slot = locals_.find(t.text);
  return n;
}

// Names with a meaning of their own; null for all others. `torch`, `annotate` and `isinstance` may be locals; the
// rest is reserved by PyTorch's printer.
const Expr* Parser::special(const Token& t) {
  switch (t.text[0]) {
    case 't': return t.text == "torch" && !shadows_torch_ && at(Tok::dot) ? op_name("aten", t) : nullptr;
    case 'o': return t.text == "ops" && at(Tok::dot) ? op_name({}, t) : nullptr;
    case 'C': return t.text == "CONSTANTS" && at(Tok::dot) ? constant_ref(t) : nullptr;
    case '_': {
      if (t.text != "__torch__") return nullptr;
      auto* n = node<GlobalName>(pos(t));
      n->name = dotted_text(t);
      return n;
    }
    case 'g': return t.text == "getattr" && at(Tok::open_paren) ? getattr_form(t) : nullptr;
    case 'a': return t.text == "annotate" && !shadows_annotate_ && at(Tok::open_paren) ? typed_form(t, false) : nullptr;
    case 'u':
      if (!at(Tok::open_paren)) return nullptr;
      if (t.text == "unchecked_cast") return typed_form(t, true);
      return t.text == "uninitialized" ? uninitialized_form(t) : nullptr;
    case 'i':
      if (t.text == "inf") return float_literal(infinity, pos(t));
      if (t.text == "isinstance" && !shadows_isinstance_ && at(Tok::open_paren)) return isinstance_form(t);
      if (t.text != "infj") return nullptr;
      break;
    case 'n':
      if (t.text == "nan") return float_literal(not_a_number, pos(t));
      if (t.text != "nanj") return nullptr;
      break;
    default: return nullptr;
  }
  auto* n = node<ComplexLiteral>(pos(t));
  n->imaginary = t.text == "infj" ? infinity : not_a_number;
  n->imaginary_only = true;
  return n;
}

// `torch.add`, `torch.autograd.grad`, `ops.prim.min`.
Expr* Parser::op_name(std::string_view ns, const Token& start) {
  auto* n = node<OpName>(pos(start));
  n->ns = ns;
  advance();
  n->name = expect_any_name("an operator's name").text;
  if (ns.empty()) {
    n->ns = n->name;
    expect(Tok::dot, "'.' and the operator's name");
    n->name = expect_any_name("an operator's name").text;
  } else if (n->name == "autograd" && accept(Tok::dot)) {
    n->name = expect_any_name("an operator's name").text;
  }
  return n;
}

Expr* Parser::constant_ref(const Token& start) {
  advance();
  const Token t = expect_name("a constant's name: c0, c1, ...");
  auto* n = node<ConstantRef>(pos(start));
  const char* end = t.text.data() + t.text.size();
  const auto result = std::from_chars(t.text.data() + 1, end, n->index);
  if (t.text[0] != 'c' || result.ec != std::errc() || result.ptr != end)
    lexer_.fail(t.offset, "a constant's name must be c0, c1, ...");
  return n;
}

Expr* Parser::typed_form(const Token& name, bool is_cast) {
  advance();
  const Type* target = type();
  expect(Tok::comma, "',' and a value");
  const Expr* value = expr();
  accept(Tok::comma);
  expect(Tok::close_paren, "')'");
  if (is_cast) {
    auto* n = node<UncheckedCast>(pos(name));
    n->target = target;
    n->value = value;
    above(n, value);
    return n;
  }
  auto* n = node<Annotate>(pos(name));
  n->target = target;
  n->value = value;
  above(n, value);
  return n;
}

Expr* Parser::uninitialized_form(const Token& name) {
  advance();
  auto* n = node<Uninitialized>(pos(name));
  n->target = type();
  expect(Tok::close_paren, "')'");
  return n;
}

Expr* Parser::isinstance_form(const Token& name) {
  advance();
  auto* n = node<IsInstance>(pos(name));
  n->value = expr();
  above(n, n->value);
  expect(Tok::comma, "',' and a type");
  const size_t mark = type_args_.size();
  n->tuple_of_types = accept(Tok::open_paren);
  if (n->tuple_of_types) {
    do {
      if (at(Tok::close_paren)) break;
      type_args_.push_back(type());
    } while (accept(Tok::comma));
    expect(Tok::close_paren, "')' after the types");
  } else {
    type_args_.push_back(type());
  }
  n->types = take(type_args_, mark);
  accept(Tok::comma);
  expect(Tok::close_paren, "')'");
  return n;
}

Expr* Parser::getattr_form(const Token& name) {
  advance();
  auto* n = node<Attribute>(pos(name));
  n->by_getattr = true;
  n->object = expr();
  above(n, n->object);
  expect(Tok::comma, "',' and the attribute's name");
  n->name = string_value(expect(Tok::string, "the attribute's name as a string"), false);
  accept(Tok::comma);
  expect(Tok::close_paren, "')'");
  return n;
}

Expr* Parser::parenthesised() {
  const Pos start = here();
  advance();
  const size_t mark = exprs_.size();
  bool is_tuple = at(Tok::close_paren);
  while (!at(Tok::close_paren)) {
    exprs_.push_back(expr());
    if (!accept(Tok::comma)) break;
    is_tuple = true;
  }
  expect(Tok::close_paren, "')'");
  if (!is_tuple) {
    // The node has no other owner yet.
    auto* inner = const_cast<Expr*>(exprs_.back());
    exprs_.pop_back();
    inner->parenthesised = true;
    return inner;
  }
  auto* n = node<TupleLiteral>(start);
  n->items = take(exprs_, mark);
  above(n, n->items);
  return n;
}

Expr* Parser::list_literal() {
  auto* n = node<ListLiteral>(here());
  advance();
  const size_t mark = exprs_.size();
  while (!at(Tok::close_bracket)) {
    exprs_.push_back(expr());
    if (!accept(Tok::comma)) break;
  }
  expect(Tok::close_bracket, "']' or ',' in a list");
  n->items = take(exprs_, mark);
  above(n, n->items);
  return n;
}

Expr* Parser::dict_literal() {
  auto* n = node<DictLiteral>(here());
  advance();
  const size_t mark = exprs_.size(), value_mark = more_exprs_.size();
  while (!at(Tok::close_brace)) {
    exprs_.push_back(expr());
    expect(Tok::colon, "':' after a dict's key");
    more_exprs_.push_back(expr());
    if (!accept(Tok::comma)) break;
  }
  expect(Tok::close_brace, "'}' or ',' in a dict");
  n->keys = take(exprs_, mark);
  n->values = take(more_exprs_, value_mark);
  above(n, n->keys);
  above(n, n->values);
  return n;
}

Expr* Parser::call(const Expr* callee) {
  auto* n = node<Call>(callee->pos);
  advance();
  n->callee = callee;
  above(n, callee);
  const size_t mark = exprs_.size(), keyword_mark = keywords_.size();
  while (!at(Tok::close_paren)) {
    const Expr* value = expr();
    if (accept(Tok::equals)) {
      const Name* name = value->as<Name>();
      if (!name) fail("only a name can stand before '=' in a call");
      value = expr();
      keywords_.push_back({name->name, value});
      above(n, value);
    } else {
      if (keywords_.size() > keyword_mark) fail("a positional argument after a keyword argument");
      exprs_.push_back(value);
    }
    n->trailing_comma = accept(Tok::comma);
    if (!n->trailing_comma) break;
  }
  expect(Tok::close_paren, "')' or ',' in a call");
  n->args = take(exprs_, mark);
  n->keywords = take(keywords_, keyword_mark);
  above(n, n->args);
  return n;
}

Expr* Parser::index(const Expr* object) {
  advance();
  const Expr* first = at(Tok::colon) ? nullptr : expr();
  if (!accept(Tok::colon)) {
    auto* n = node<Index>(object->pos);
    n->object = object;
    n->index = first;
    above(n, object);
    above(n, first);
    expect(Tok::close_bracket, "']'");
    return n;
  }
  auto* n = node<Slice>(object->pos);
  n->object = object;
  n->first = first;
  n->last = at(Tok::close_bracket) ? nullptr : expr();
  above(n, object);
  if (n->first) above(n, n->first);
  if (n->last) above(n, n->last);
  expect(Tok::close_bracket, "']'");
  return n;
}

const Expr* Parser::string_literal(bool raw) {
  auto* n = node<StringLiteral>(here());
  n->value = string_value(token_, raw);
  advance();
  return n;
}

std::string_view Parser::string_value(const Token& t, bool raw) {
  if (raw || !t.escapes) return t.text;
  if (!unescape(t.text, text_)) lexer_.fail(t.offset, "a string with a malformed escape");
  return file_.arena.copy(std::string_view(text_));
}

}  // namespace cameo::torchscript
