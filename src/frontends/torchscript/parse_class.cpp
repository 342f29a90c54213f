#include <unordered_set>
#include <utility>

#include "frontends/torchscript/parser.h"
#include "support/error.h"

namespace cameo::torchscript {

Parser::Parser(SourceFile& file, TypeTable& types) : file_(file), types_(types), lexer_(file.text.text(), file.path) {
  advance();
}

bool Parser::accept(Tok kind) {
  if (token_.kind != kind) return false;
  advance();
  return true;
}

bool Parser::accept(Word word) {
  if (token_.word != word) return false;
  advance();
  return true;
}

Token Parser::expect(Tok kind, std::string_view what) {
  if (token_.kind != kind) fail(cat("expected ", what));
  const Token t = token_;
  advance();
  return t;
}

void Parser::expect(Word word, std::string_view what) {
  if (!accept(word)) fail(cat("expected ", what));
}

Token Parser::expect_name(std::string_view what) { return expect(Tok::identifier, what); }

Token Parser::expect_any_name(std::string_view what) {
  const Token t = token_;
  if (t.kind != Tok::identifier && t.kind != Tok::keyword) fail(cat("expected ", what));
  advance();
  return t;
}

void Parser::file() {
  while (!at(Tok::end)) {
    if (accept(Tok::newline)) continue;
    indent_ = 0;
    if (at(Word::kw_class)) {
      class_def();
      file_.class_first.push_back(true);
    } else if (at(Word::kw_def)) {
      file_.functions.push_back(function_def(file_.prefix, false, false));
      file_.class_first.push_back(false);
    } else {
      old_header_line();
    }
  }
}

// `import __torch__.a.16` and `op_version_set = 1` start the files of PyTorch 1.3 and 1.4; neither says anything.
void Parser::old_header_line() {
  if (!at(Word::kw_import) && token_.text != "op_version_set") fail("only classes and functions can stand here");
  lexer_.skip_line();
  advance();
}

std::string_view Parser::qualified(std::string_view scope, std::string_view name) {
  text_.assign(scope);
  if (!scope.empty()) text_ += '.';
  text_ += name;
  return file_.arena.copy(std::string_view(text_));
}

ClassKind Parser::class_base() {
  if (!accept(Tok::open_paren)) return ClassKind::plain;
  static constexpr std::pair<std::string_view, ClassKind> bases[] = {
      {"Module", ClassKind::module},
      {"NamedTuple", ClassKind::named_tuple},
      {"Enum", ClassKind::enumeration},
      {"Interface", ClassKind::interface},
      {"ModuleInterface", ClassKind::module_interface},
  };
  const Token base = expect_name("a base class");
  expect(Tok::close_paren, "')'");
  for (const auto& [name, kind] : bases)
    if (name == base.text) return kind;
  lexer_.fail(base.offset, cat("unknown base class ", base.text));
}

void Parser::class_def() {
  auto* cls = file_.arena.make<ClassDef>();
  cls->pos = here();
  advance();
  cls->name = expect_any_name("the class's name").text;
  cls->qualified_name = qualified(file_.prefix, cls->name);
  cls->kind = class_base();
  expect(Tok::colon, "':' after the class's head");
  attributes_.clear();
  constants_.clear();
  items_.clear();
  methods_.clear();
  if (!at(Tok::newline)) fail("a new line must follow ':'");
  // A class without members is printed as only its head.
  for (indent_ = token_.indent; indent_ > 0 && at(Tok::newline) && token_.indent == indent_;) {
    advance();
    if (at(Tok::end)) break;
    class_member(*cls);
  }
  if (at(Tok::newline) && token_.indent != 0) fail("a line's indentation fits no block");
  const std::unordered_set<std::string_view> parameters(cls->parameters.begin(), cls->parameters.end());
  const std::unordered_set<std::string_view> buffers(cls->buffers.begin(), cls->buffers.end());
  for (AttributeDecl& a : attributes_) {
    a.is_parameter = parameters.contains(a.name);
    a.is_buffer = buffers.contains(a.name);
  }
  cls->attributes = file_.arena.copy(attributes_);
  cls->constants = file_.arena.copy(constants_);
  cls->items = file_.arena.copy(items_);
  cls->methods = file_.arena.copy(methods_);
  for (const FunctionDef* m : methods_) const_cast<FunctionDef*>(m)->owner = cls;  // made a moment ago, right here
  file_.classes.push_back(cls);
}

void Parser::class_member(ClassDef& cls) {
  if (at(Word::kw_def)) {
    const bool interface = cls.kind == ClassKind::interface || cls.kind == ClassKind::module_interface;
    methods_.push_back(function_def(cls.qualified_name, true, interface));
    return;
  }
  if (accept(Word::kw_pass)) return end_of_statement();
  const Token name = expect_any_name("an attribute, a constant or a method");
  if (at(Tok::colon)) attribute_or_constant(name);
  else if (at(Tok::open_bracket) && name.text == "__annotations__") annotation_entry();
  else if (at(Tok::equals) && cls.kind == ClassKind::enumeration) enum_item(name);
  else if (at(Tok::equals)) special_list(cls, name);
  else fail(cat("a class's member cannot go on with '", token_.text, "'"));
  end_of_statement();
}

void Parser::special_list(ClassDef& cls, const Token& name) {
  advance();
  const auto names = name_list();
  if (name.text == "__parameters__") {
    cls.parameters = names;
    cls.has_parameters_list = true;
  } else if (name.text == "__buffers__") {
    cls.buffers = names;
    cls.has_buffers_list = true;
  } else if (name.text == "__forward_pre_hooks__") {
    cls.forward_pre_hooks = names;
  } else if (name.text == "__forward_hooks__") {
    cls.forward_hooks = names;
  } else if (name.text == "__annotations__") {
    cls.has_annotations_list = true;
  } else {
    lexer_.fail(name.offset, cat("a module class has no list called ", name.text));
  }
}

// Names are printed raw, without escapes.
std::span<const std::string_view> Parser::name_list() {
  expect(Tok::open_bracket, "'['");
  const size_t mark = names_.size();
  while (!at(Tok::close_bracket)) {
    names_.push_back(expect(Tok::string, "a name as a string").text);
    if (!accept(Tok::comma)) break;
  }
  expect(Tok::close_bracket, "']'");
  return take(names_, mark);
}

void Parser::annotation_entry() {
  advance();
  const Token name = expect(Tok::string, "an attribute's name as a string");
  expect(Tok::close_bracket, "']'");
  expect(Tok::equals, "'=' and the attribute's type");
  const Type* t = type();
  attributes_.push_back({.name = name.text, .type = t, .pos = pos(name), .by_annotations = true});
}

void Parser::attribute_or_constant(const Token& name) {
  advance();
  if (token_.text != "Final") {
    const Type* t = type();
    attributes_.push_back({.name = name.text, .type = t, .pos = pos(name)});
    return;
  }
  advance();
  expect(Tok::open_bracket, "'[' and the constant's type");
  ConstantDecl c{.name = name.text, .type = type(), .pos = pos(name)};
  expect(Tok::close_bracket, "']'");
  expect(Tok::equals, "'=' and the constant's value");
  locals_.clear();
  c.value = expr();
  constants_.push_back(c);
}

void Parser::enum_item(const Token& name) {
  advance();
  const Expr* value = at(Tok::string) ? string_literal(true) : atom();
  if (!value->as<IntegerLiteral>() && !value->as<FloatLiteral>() && !value->as<StringLiteral>())
    fail("an enum's value must be a number or a string");
  items_.push_back({name.text, value, pos(name)});
}

FunctionDef* Parser::function_def(std::string_view scope, bool is_method, bool is_interface) {
  auto* f = file_.arena.make<FunctionDef>();
  f->pos = here();
  advance();
  f->name = expect_any_name("the function's name").text;
  f->qualified_name = qualified(scope, f->name);
  locals_.clear();
  shadows_torch_ = shadows_annotate_ = shadows_isinstance_ = false;
  params(*f, is_interface);
  if (is_method && f->params.empty()) fail("a method needs its receiver as first parameter");
  expect(Tok::arrow, "'->' and the result's type");
  f->return_type = type();
  expect(Tok::colon, "':' after the function's head");
  f->body = block();
  f->locals = file_.arena.copy(locals_.all());
  return f;
}

void Parser::params(FunctionDef& f, bool is_interface) {
  expect(Tok::open_paren, "'(' and the parameters");
  std::vector<Param> all;
  while (!at(Tok::close_paren)) {
    const Token name = expect_name("a parameter's name");
    Param p{.name = name.text, .slot = declare(name.text, pos(name)).slot, .pos = pos(name)};
    if (p.slot != static_cast<int32_t>(all.size())) lexer_.fail(name.offset, cat("two parameters called ", name.text));
    if (accept(Tok::colon)) p.type = type();
    else if (!is_interface || !all.empty()) fail("a parameter's type is missing");
    if (accept(Tok::equals)) p.default_value = expr();
    all.push_back(p);
    if (!accept(Tok::comma)) break;
  }
  expect(Tok::close_paren, "')' or ',' after a parameter");
  f.params = file_.arena.copy(all);
}

void parse_source(SourceFile& file, TypeTable& types) {
  if (file.text.size() > (uint64_t{1} << 30))
    throw error("file.too-large", cat(file.path, ": code of more than a gigabyte")).at({.file = file.path});
  Parser(file, types).file();
}

const FunctionDef* ClassDef::method(std::string_view wanted) const {
  for (const FunctionDef* m : methods)
    if (m->name == wanted) return m;
  return nullptr;
}

namespace {
template <class T>
const T* by_name(std::span<const T> all, std::string_view wanted) {
  for (const T& one : all)
    if (one.name == wanted) return &one;
  return nullptr;
}
}  // namespace

const AttributeDecl* ClassDef::attribute(std::string_view wanted) const { return by_name(attributes, wanted); }
const ConstantDecl* ClassDef::constant(std::string_view wanted) const { return by_name(constants, wanted); }
const EnumItem* ClassDef::item(std::string_view wanted) const { return by_name(items, wanted); }

}  // namespace cameo::torchscript
