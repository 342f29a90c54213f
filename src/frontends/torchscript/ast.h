// The syntax tree of TorchScript's printed language (the text under code/ in an archive).
//
// Nodes live in their file's arena and are never freed one by one. Names are views into the file's text. The tree is
// read-only once parsed, but for the `mutable` slots, which are there for a static typing pass to fill.
//
// The parser has already done what needs no types: locals are numbered, operators (`torch.add`, `ops.prim.min`),
// archive names (`__torch__.a.b`) and constants (`CONSTANTS.c3`) have nodes of their own, `getattr(x, "0")` is an
// Attribute, `annotate`, `unchecked_cast`, `uninitialized`, `isinstance` carry their types.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "frontends/torchscript/types.h"

namespace cameo::torchscript {

// A place in the archive's code. All files share one range of offsets: Program::locate gives file, line and column.
struct Pos {
  uint32_t offset = 0;
  friend constexpr bool operator==(Pos, Pos) = default;
};

enum class ExprKind : uint8_t {
  integer,
  floating,
  complex,
  string,
  boolean,
  none,  // literals
  name,
  constant,
  op,
  global,  // names
  attribute,
  index,
  slice,
  call,
  tuple,
  list,
  dict,
  annotate,
  unchecked_cast,
  uninitialized,
  isinstance,
};

struct Expr {
  ExprKind kind;
  bool parenthesised = false;  // as written: `(fc).forward(x, )`; only the printer cares
  uint16_t height = 1;         // of the tree below; the parser bounds it, so recursion over trees is safe
  Pos pos;
  mutable const Type* type = nullptr;  // for the typing pass

  template <class T>
  const T* as() const {
    return kind == T::tag ? static_cast<const T*>(this) : nullptr;
  }
};

template <ExprKind K>
struct ExprOf : Expr {
  static constexpr ExprKind tag = K;
  ExprOf() : Expr{K} {}
};

using Exprs = std::span<const Expr* const>;

struct IntegerLiteral : ExprOf<ExprKind::integer> {
  int64_t value = 0;  // where a float is expected, an int literal is a float: 1e10 is printed as 10000000000
};
struct FloatLiteral : ExprOf<ExprKind::floating> {
  double value = 0;
};
struct ComplexLiteral : ExprOf<ExprKind::complex> {
  double real = 0, imaginary = 0;
  bool imaginary_only = false;  // `infj`
};
struct StringLiteral : ExprOf<ExprKind::string> {
  std::string_view value;  // escapes resolved; may hold any byte
};
struct BoolLiteral : ExprOf<ExprKind::boolean> {
  bool value = false;
};
struct NoneLiteral : ExprOf<ExprKind::none> {};

// A local, a builtin (`int`, `float`, `bool`, `str`, `print`, `fork`, ...) or, in foreign text, an unknown name.
struct Name : ExprOf<ExprKind::name> {
  std::string_view name;
  int32_t slot = -1;  // index into FunctionDef::locals; -1: not a local
};
// `CONSTANTS.c3`: Program::constant(3).
struct ConstantRef : ExprOf<ExprKind::constant> {
  uint32_t index = 0;
};
// `torch.add` is aten::add, `ops.prim.min` is prim::min. Only seen as a call's callee in printed code.
struct OpName : ExprOf<ExprKind::op> {
  std::string_view ns, name;
};
// `__torch__.a.b.f`: a function, class, NamedTuple constructor, hook, enum member or `Class.__new__`: see
// Program::resolve, which finds the longest prefix that names something.
struct GlobalName : ExprOf<ExprKind::global> {
  std::string_view name;
  mutable const void* target = nullptr;  // for the typing pass
};

struct Attribute : ExprOf<ExprKind::attribute> {
  const Expr* object = nullptr;
  std::string_view name;
  bool by_getattr = false;  // written `getattr(object, "name")`
};
struct Index : ExprOf<ExprKind::index> {
  const Expr *object = nullptr, *index = nullptr;
};
// `t[1:3]`: a tuple's slice with literal bounds; either may be null.
struct Slice : ExprOf<ExprKind::slice> {
  const Expr *object = nullptr, *first = nullptr, *last = nullptr;
};

struct Keyword {
  std::string_view name;
  const Expr* value = nullptr;
};
// The callee's kind tells what is called: op: an operator; global: what the archive defines; attribute: a method of
// callee->object; name: a builtin, or a local that holds a function or closure.
struct Call : ExprOf<ExprKind::call> {
  const Expr* callee = nullptr;
  Exprs args;
  std::span<const Keyword> keywords;
  bool trailing_comma = false;           // as written: calls of the archive's own functions
  mutable const void* target = nullptr;  // for the typing pass: the overload or function chosen
};

struct TupleLiteral : ExprOf<ExprKind::tuple> {
  Exprs items;
};
struct ListLiteral : ExprOf<ExprKind::list> {
  Exprs items;
};
struct DictLiteral : ExprOf<ExprKind::dict> {
  Exprs keys, values;  // of equal length
};

// `annotate(T, e)`: e with type hint T, converted to T. `unchecked_cast(T, e)`: e, known to be a T.
struct Annotate : ExprOf<ExprKind::annotate> {
  const Type* target = nullptr;
  const Expr* value = nullptr;
};
struct UncheckedCast : ExprOf<ExprKind::unchecked_cast> {
  const Type* target = nullptr;
  const Expr* value = nullptr;
};
struct Uninitialized : ExprOf<ExprKind::uninitialized> {
  const Type* target = nullptr;
};
struct IsInstance : ExprOf<ExprKind::isinstance> {
  const Expr* value = nullptr;
  std::span<const Type* const> types;
  bool tuple_of_types = false;  // as written
};

enum class StmtKind : uint8_t {
  assign,
  set_attribute,
  expression,
  if_else,
  for_range,
  while_loop,
  with_block,
  return_value,
  pass,
  closure,
};

struct Stmt {
  StmtKind kind;
  Pos pos;

  template <class T>
  const T* as() const {
    return kind == T::tag ? static_cast<const T*>(this) : nullptr;
  }
};

template <StmtKind K>
struct StmtOf : Stmt {
  static constexpr StmtKind tag = K;
  StmtOf() : Stmt{K} {}
};

using Block = std::span<const Stmt* const>;

struct Target {
  std::string_view name;
  int32_t slot = -1;
  Pos pos;
  const Type* declared = nullptr;  // `x : T = e`, else null
  bool space_before_colon = false;
};

enum class AssignForm : uint8_t {
  single,    // x = e          x : T = e
  results,   // a, b = f(x)    an operator with several results
  parallel,  // a, b = x, y    all values first, then all targets
  unpack,    // a, b, = v      the parts of one tuple or list
};

struct Assign : StmtOf<StmtKind::assign> {
  AssignForm form = AssignForm::single;
  std::span<const Target> targets;
  Exprs values;  // parallel: as many as targets; else one
};
struct SetAttribute : StmtOf<StmtKind::set_attribute> {
  const Expr* object = nullptr;
  std::string_view name;
  const Expr* value = nullptr;
};
struct ExprStmt : StmtOf<StmtKind::expression> {
  const Expr* value = nullptr;
};
struct If : StmtOf<StmtKind::if_else> {
  const Expr* condition = nullptr;
  Block then_block, else_block;
};
// `for i in range(count)`: i counts from 0; a count <= 0 means no turn.
struct For : StmtOf<StmtKind::for_range> {
  Target target;
  const Expr* count = nullptr;
  Block body;
};
struct While : StmtOf<StmtKind::while_loop> {
  const Expr* condition = nullptr;
  Block body;
};
struct With : StmtOf<StmtKind::with_block> {
  const Expr* context = nullptr;
  const Target* target = nullptr;  // `as x`, else null
  Block body;
};
struct Return : StmtOf<StmtKind::return_value> {
  const Expr* value = nullptr;
};
struct Pass : StmtOf<StmtKind::pass> {};

struct FunctionDef;
// `def f():` inside a body, for fork and awaitable: no parameters, shares the locals of the function around it.
struct Closure : StmtOf<StmtKind::closure> {
  Target target;
  const FunctionDef* function = nullptr;
};

struct Param {
  std::string_view name;
  int32_t slot = -1;  // equals its position
  Pos pos;
  const Type* type = nullptr;           // null only for the `self` of an interface's method
  const Expr* default_value = nullptr;  // a constant expression, or null
};

struct FunctionDef {
  std::string_view name;            // "forward"
  std::string_view qualified_name;  // "__torch__.Net.forward"; of closures: the plain name
  Pos pos;
  std::span<const Param> params;
  const Type* return_type = nullptr;  // null for closures
  Block body;
  // Names of all locals by slot, parameters first. A closure has none of its own: its slots are its outer function's.
  std::span<const std::string_view> locals;
  const ClassDef* owner = nullptr;         // the class of a method, else null
  mutable const void* analysis = nullptr;  // for the typing pass: what it knows about this function
};

enum class ClassKind : uint8_t { plain, module, named_tuple, enumeration, interface, module_interface };

struct AttributeDecl {
  std::string_view name;
  const Type* type = nullptr;
  Pos pos;
  bool is_parameter = false, is_buffer = false;
  bool by_annotations = false;  // written `__annotations__["0"] = T`
};
struct ConstantDecl {  // `padding : Final[Tuple[int, int]] = (1, 1)`
  std::string_view name;
  const Type* type = nullptr;
  const Expr* value = nullptr;
  Pos pos;
};
struct EnumItem {
  std::string_view name;
  const Expr* value = nullptr;  // IntegerLiteral, FloatLiteral or StringLiteral
  Pos pos;
};

struct ClassDef {
  std::string_view name, qualified_name;
  ClassKind kind = ClassKind::plain;
  Pos pos;
  std::span<const AttributeDecl> attributes;  // in slot order; fields of a NamedTuple
  std::span<const ConstantDecl> constants;
  std::span<const EnumItem> items;
  std::span<const FunctionDef* const> methods;
  std::span<const std::string_view> parameters, buffers, forward_pre_hooks, forward_hooks;  // names as printed
  bool has_parameters_list = false, has_buffers_list = false, has_annotations_list = false;

  const FunctionDef* method(std::string_view wanted) const;
  const AttributeDecl* attribute(std::string_view wanted) const;
  const ConstantDecl* constant(std::string_view wanted) const;
  const EnumItem* item(std::string_view wanted) const;
  bool is_module() const { return kind == ClassKind::module || kind == ClassKind::module_interface; }
};

}  // namespace cameo::torchscript
