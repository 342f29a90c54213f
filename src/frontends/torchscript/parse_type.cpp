#include <cstdint>

#include "frontends/torchscript/parser.h"
#include "support/error.h"

namespace cameo::torchscript {

namespace {
struct Row {
  std::string_view name;
  TypeKind kind;
  uint8_t least = 0, most = 0;  // arguments
};
constexpr uint8_t any_number = 255;
constexpr Row rows[] = {
    {"Tensor", TypeKind::tensor},
    {"int", TypeKind::integer},
    {"float", TypeKind::floating},
    {"bool", TypeKind::boolean},
    {"str", TypeKind::string},
    {"List", TypeKind::list, 1, 1},
    {"Optional", TypeKind::optional, 1, 1},
    {"Tuple", TypeKind::tuple, 0, any_number},
    {"Dict", TypeKind::dict, 2, 2},
    {"number", TypeKind::number},
    {"NoneType", TypeKind::none},
    {"complex", TypeKind::complex},
    {"Any", TypeKind::any},
    {"Device", TypeKind::device},
    {"Union", TypeKind::union_of, 1, any_number},
    {"Future", TypeKind::future, 1, 1},
    {"Await", TypeKind::await, 1, 1},
    {"RRef", TypeKind::rref, 1, 1},
    {"Generator", TypeKind::generator},
    {"Stream", TypeKind::stream},
    {"Capsule", TypeKind::capsule},
    {"Storage", TypeKind::storage},
    {"list", TypeKind::any_list},
    {"tuple", TypeKind::any_tuple},
    {"QScheme", TypeKind::qscheme},
    {"AnyEnumType", TypeKind::any_enum},
    {"AnyClassType", TypeKind::any_class},
    // Old spellings.
    {"Scalar", TypeKind::number},
    {"LongTensor", TypeKind::tensor},
    {"FloatTensor", TypeKind::tensor},
    {"DoubleTensor", TypeKind::tensor},
    {"HalfTensor", TypeKind::tensor},
    {"IntTensor", TypeKind::tensor},
    {"ShortTensor", TypeKind::tensor},
    {"CharTensor", TypeKind::tensor},
    {"ByteTensor", TypeKind::tensor},
    {"BoolTensor", TypeKind::tensor},
};
}  // namespace

const Type* Parser::type() {
  const Deeper deeper(*this);
  if (accept(Word::kw_none)) return types_.of(TypeKind::none);
  const Token first = expect_name("a type");
  if (first.text == "__torch__") return named_type(first);
  if (first.text == "torch" && accept(Tok::dot)) {
    if (const Token t = expect_name("a type"); t.text != "Tensor") fail(cat("unknown type torch.", t.text));
    return types_.of(TypeKind::tensor);
  }
  for (const Row& row : rows)
    if (row.name == first.text) return row.most ? type_with_args(row.kind, row.least, row.most) : types_.of(row.kind);
  lexer_.fail(first.offset, cat("unknown type ", first.text),
              "archives of newer PyTorch versions may have types that Cameo does not know");
}

const Type* Parser::named_type(const Token& first) {
  const auto name = dotted_text(first);
  return types_.named(name);
}

// `a.b.c` from `first`, which has been read. A view of the source where it is written without blanks, as always.
std::string_view Parser::dotted_text(const Token& first) {
  const char* begin = first.text.data();
  const char* end = begin + first.text.size();
  bool contiguous = true;
  text_.assign(first.text);
  while (accept(Tok::dot)) {
    const Token part = expect_any_name("a name after '.'");
    contiguous = contiguous && part.text.data() == end + 1;
    end = part.text.data() + part.text.size();
    (text_ += '.') += part.text;
  }
  return contiguous ? std::string_view(begin, static_cast<size_t>(end - begin))
                    : file_.arena.copy(std::string_view(text_));
}

const Type* Parser::type_with_args(TypeKind kind, size_t least, size_t most) {
  if (kind == TypeKind::tuple && !at(Tok::open_bracket)) return types_.of(TypeKind::any_tuple);
  if (kind == TypeKind::list && !at(Tok::open_bracket)) return types_.of(TypeKind::any_list);
  expect(Tok::open_bracket, "'[' and the type's arguments");
  const size_t mark = type_args_.size();
  if (kind == TypeKind::tuple && accept(Tok::open_paren)) {
    expect(Tok::close_paren, "')': Tuple[()] is the empty tuple's type");
  } else {
    do {
      if (at(Tok::close_bracket)) break;
      type_args_.push_back(type());
    } while (accept(Tok::comma));
  }
  const size_t count = type_args_.size() - mark;
  if (count < least || count > most) fail("a type with a wrong number of arguments");
  expect(Tok::close_bracket, "']' after the type's arguments");
  const Type* made = types_.of(kind, std::span<const Type* const>(type_args_).subspan(mark));
  type_args_.resize(mark);
  return made;
}

const Type* Parser::lone_type() {
  const Type* made = type();
  accept(Tok::newline);
  if (!at(Tok::end)) fail("text after a type");
  return made;
}

const Type* parse_type(std::string_view text, TypeTable& types) {
  if (text.size() > (1u << 20)) throw error("file.script-syntax", "a type longer than a megabyte");
  SourceFile scratch;
  scratch.path = "a type tag";
  scratch.text = Bytes({}, {reinterpret_cast<const std::byte*>(text.data()), text.size()});
  return Parser(scratch, types).lone_type();
}

}  // namespace cameo::torchscript
