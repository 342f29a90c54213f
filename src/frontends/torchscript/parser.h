// The parser's own class: recursive descent over the grammar that PyTorch prints, with the relaxations that old
// archives need. Used only by parse_source and parse_type.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frontends/torchscript/lexer.h"
#include "frontends/torchscript/local_names.h"
#include "frontends/torchscript/source.h"

namespace cameo::torchscript {

class Parser {
 public:
  Parser(SourceFile& file, TypeTable& types);

  void file();
  const Type* lone_type();

 private:
  // Tokens.
  void advance() { token_ = lexer_.next(); }
  bool at(Tok kind) const { return token_.kind == kind; }
  bool at(Word word) const { return token_.word == word; }
  bool accept(Tok kind);
  bool accept(Word word);
  Token expect(Tok kind, std::string_view what);
  void expect(Word word, std::string_view what);
  Token expect_name(std::string_view what);      // an identifier
  Token expect_any_name(std::string_view what);  // an identifier or keyword: attributes may be called `in`
  [[noreturn]] void fail(std::string what, std::string hint = {}) const {
    lexer_.fail(token_.offset, std::move(what), std::move(hint));
  }
  Pos pos(const Token& t) const { return {file_.base + t.offset}; }
  Pos here() const { return pos(token_); }

  // Definitions (parse_class.cpp).
  void old_header_line();
  void class_def();
  ClassKind class_base();
  void class_member(ClassDef& cls);
  void special_list(ClassDef& cls, const Token& name);
  void annotation_entry();
  void attribute_or_constant(const Token& name);
  void enum_item(const Token& name);
  std::span<const std::string_view> name_list();
  FunctionDef* function_def(std::string_view scope, bool is_method, bool is_interface);
  void params(FunctionDef& f, bool is_interface);
  std::string_view qualified(std::string_view scope, std::string_view name);

  // Statements (parse_stmt.cpp).
  Block block();
  const Stmt* statement();
  const Stmt* if_statement();
  const Stmt* for_statement();
  const Stmt* while_statement();
  const Stmt* with_statement();
  const Stmt* return_statement();
  const Stmt* closure();
  const Stmt* simple_statement();
  const Stmt* assignment(const Expr& first);
  const Stmt* declaration(const Expr& first);
  Target target(const Expr& e);
  Target declare(std::string_view name, Pos at);
  void end_of_statement();

  // Expressions (parse_expr.cpp).
  const Expr* expr();
  const Expr* atom();
  const Expr* postfix(const Expr* base);
  const Expr* number(bool negative);
  const Expr* complex_tail(double real, Pos at);
  const Expr* float_literal(double value, Pos at);
  const Expr* name_or_special();
  const Expr* special(const Token& name);
  Expr* op_name(std::string_view ns, const Token& start);
  Expr* constant_ref(const Token& start);
  Expr* typed_form(const Token& name, bool is_cast);
  Expr* uninitialized_form(const Token& name);
  Expr* isinstance_form(const Token& name);
  Expr* getattr_form(const Token& name);
  Expr* parenthesised();
  Expr* list_literal();
  Expr* dict_literal();
  Expr* call(const Expr* callee);
  Expr* index(const Expr* object);
  const Expr* string_literal(bool raw);
  std::string_view string_value(const Token& t, bool raw);
  template <class T>
  T* node(Pos at) {
    T* n = file_.arena.make<T>();
    n->pos = at;
    return n;
  }

  // Makes `n` at least one higher than `child`.
  void above(Expr* n, const Expr* child);
  void above(Expr* n, Exprs children);

  // Types (parse_type.cpp).
  const Type* type();
  const Type* named_type(const Token& first);
  const Type* type_with_args(TypeKind kind, size_t least, size_t most);
  std::string_view dotted_text(const Token& first);

  // Takes what was pushed on a scratch stack since `mark`.
  template <class T>
  std::span<const T> take(std::vector<T>& stack, size_t mark) {
    const auto out = file_.arena.copy(std::span<const T>(stack).subspan(mark));
    stack.resize(mark);
    return out;
  }

  // Counts nesting for as long as it lives; deep nesting is refused before the stack overflows.
  struct Deeper {
    explicit Deeper(Parser& p) : parser(p) {
      if (++parser.depth_ > max_depth)
        parser.fail("code nested too deeply", "a model written by PyTorch nests some dozens of levels");
    }
    ~Deeper() { --parser.depth_; }
    Parser& parser;
  };
  static constexpr int max_depth = 512;

  SourceFile& file_;
  TypeTable& types_;
  Lexer lexer_;
  Token token_;
  LocalNames locals_;
  bool shadows_torch_ = false, shadows_annotate_ = false, shadows_isinstance_ = false;
  int depth_ = 0;
  uint32_t indent_ = 0;  // of the block being parsed
  std::string text_;     // scratch for escapes and names

  std::vector<const Expr*> exprs_;
  std::vector<const Expr*> more_exprs_;
  std::vector<const Stmt*> stmts_;
  std::vector<const Type*> type_args_;
  std::vector<Keyword> keywords_;
  std::vector<Target> targets_;
  std::vector<std::string_view> names_;

  // Of the class being parsed.
  std::vector<AttributeDecl> attributes_;
  std::vector<ConstantDecl> constants_;
  std::vector<EnumItem> items_;
  std::vector<const FunctionDef*> methods_;
};

}  // namespace cameo::torchscript
