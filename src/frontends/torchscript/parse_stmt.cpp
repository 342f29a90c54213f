#include "frontends/torchscript/parser.h"
#include "support/error.h"

namespace cameo::torchscript {

// After a ':': a newline and the statements that are indented deeper than the block around.
Block Parser::block() {
  const Deeper deeper(*this);
  if (!at(Tok::newline)) fail("a new line must follow ':'");
  const uint32_t outer = indent_, inner = token_.indent;
  if (inner <= outer) fail("an indented block is missing after ':'");
  indent_ = inner;
  advance();
  const size_t mark = stmts_.size();
  for (;;) {
    stmts_.push_back(statement());
    // The statement left us at the newline that ends it, or at the end.
    if (!at(Tok::newline) || token_.indent < inner) break;
    if (token_.indent > inner) fail("a line is indented deeper than its block");
    advance();
    if (at(Tok::end)) break;
  }
  indent_ = outer;
  return take(stmts_, mark);
}

// Leaves the newline that ends the statement as the current token: its indentation tells the block whether it goes on.
const Stmt* Parser::statement() {
  switch (token_.word) {
    case Word::kw_if: return if_statement();
    case Word::kw_for: return for_statement();
    case Word::kw_while: return while_statement();
    case Word::kw_with: return with_statement();
    case Word::kw_return: return return_statement();
    case Word::kw_def: return closure();
    case Word::kw_pass: {
      auto* s = node<Pass>(here());
      advance();
      end_of_statement();
      return s;
    }
    default: return simple_statement();
  }
}

void Parser::end_of_statement() {
  if (!at(Tok::newline) && !at(Tok::end)) fail(cat("the statement should end before '", token_.text, "'"));
}

const Stmt* Parser::if_statement() {
  auto* s = node<If>(here());
  advance();
  s->condition = expr();
  expect(Tok::colon, "':' after the condition");
  s->then_block = block();
  if (!at(Tok::newline) || token_.indent != indent_) return s;
  // `else` stands on the next line, as deep as the `if`; any other word there is the block's next statement.
  const Token end = token_;
  const Lexer before = lexer_;
  advance();
  if (!accept(Word::kw_else)) {
    lexer_ = before;
    token_ = end;
    return s;
  }
  expect(Tok::colon, "':' after else");
  s->else_block = block();
  return s;
}

const Stmt* Parser::for_statement() {
  auto* s = node<For>(here());
  advance();
  const Token name = expect_name("the loop's variable");
  expect(Word::kw_in, "'in'");
  if (const Token t = expect_name("'range'"); t.text != "range")
    lexer_.fail(t.offset, "a for loop must go over range(count)",
                "PyTorch prints every other loop as a loop over an index");
  expect(Tok::open_paren, "'('");
  s->count = expr();
  expect(Tok::close_paren, "')'");
  expect(Tok::colon, "':' after the loop's head");
  s->target = declare(name.text, pos(name));
  s->body = block();
  return s;
}

const Stmt* Parser::while_statement() {
  auto* s = node<While>(here());
  advance();
  s->condition = expr();
  expect(Tok::colon, "':' after the condition");
  s->body = block();
  return s;
}

const Stmt* Parser::with_statement() {
  auto* s = node<With>(here());
  advance();
  s->context = expr();
  if (accept(Word::kw_as)) {
    const Token name = expect_name("a name after 'as'");
    s->target = file_.arena.make<Target>(declare(name.text, pos(name)));
  }
  expect(Tok::colon, "':'");
  s->body = block();
  return s;
}

const Stmt* Parser::return_statement() {
  auto* s = node<Return>(here());
  advance();
  if (!at(Tok::newline) && !at(Tok::end)) s->value = expr();
  end_of_statement();
  return s;
}

const Stmt* Parser::closure() {
  auto* s = node<Closure>(here());
  advance();
  const Token name = expect_name("the closure's name");
  auto* f = file_.arena.make<FunctionDef>();
  f->name = f->qualified_name = name.text;
  f->pos = s->pos;
  expect(Tok::open_paren, "'('");
  expect(Tok::close_paren, "')': a function inside a function has no parameters");
  expect(Tok::colon, "':'");
  s->target = declare(name.text, pos(name));
  f->body = block();
  s->function = f;
  return s;
}

Target Parser::declare(std::string_view name, Pos at) {
  if (name == "torch") shadows_torch_ = true;
  if (name == "annotate") shadows_annotate_ = true;
  if (name == "isinstance") shadows_isinstance_ = true;
  return {name, locals_.add(name), at};
}

Target Parser::target(const Expr& e) {
  const Name* name = e.as<Name>();
  if (!name) fail("only names can be assigned together");
  return declare(name->name, name->pos);
}

const Stmt* Parser::simple_statement() {
  const Expr* first = expr();
  if (at(Tok::equals) || at(Tok::comma)) return assignment(*first);
  if (at(Tok::colon)) return declaration(*first);
  auto* s = node<ExprStmt>(first->pos);
  s->value = first;
  end_of_statement();
  return s;
}

const Stmt* Parser::assignment(const Expr& first) {
  if (const Attribute* attribute = first.as<Attribute>(); attribute && !attribute->by_getattr) {
    auto* s = node<SetAttribute>(first.pos);
    expect(Tok::equals, "'='");
    s->object = attribute->object;
    s->name = attribute->name;
    s->value = expr();
    end_of_statement();
    return s;
  }
  auto* s = node<Assign>(first.pos);
  // Targets become locals after the values are read: `x = x` with a parameter x means the old one.
  const size_t name_mark = exprs_.size();
  exprs_.push_back(&first);
  while (accept(Tok::comma)) {
    if (at(Tok::equals)) {
      s->form = AssignForm::unpack;
      break;
    }
    exprs_.push_back(expr());
  }
  const size_t value_mark = exprs_.size();
  expect(Tok::equals, "'='");
  do exprs_.push_back(expr());
  while (accept(Tok::comma));
  end_of_statement();
  const size_t targets = value_mark - name_mark, values = exprs_.size() - value_mark;
  if (s->form == AssignForm::single && targets > 1) s->form = values == 1 ? AssignForm::results : AssignForm::parallel;
  if (values != (s->form == AssignForm::parallel ? targets : 1))
    fail("an assignment with unequal numbers of names and values");
  s->values = take(exprs_, value_mark);
  const size_t mark = targets_.size();
  for (size_t i = name_mark; i < value_mark; ++i) targets_.push_back(target(*exprs_[i]));
  exprs_.resize(name_mark);
  s->targets = take(targets_, mark);
  return s;
}

const Stmt* Parser::declaration(const Expr& first) {
  auto* s = node<Assign>(first.pos);
  const uint32_t name_end =
      first.pos.offset - file_.base + (first.as<Name>() ? narrow<uint32_t>(first.as<Name>()->name.size()) : 0);
  const bool space = token_.offset > name_end;
  advance();
  const Type* declared = type();
  expect(Tok::equals, "'=' and the variable's first value");
  exprs_.push_back(expr());
  end_of_statement();
  s->values = take(exprs_, exprs_.size() - 1);
  Target t = target(first);
  t.declared = declared;
  t.space_before_colon = space;
  s->targets = file_.arena.copy(std::span<const Target>(&t, 1));
  return s;
}

}  // namespace cameo::torchscript
