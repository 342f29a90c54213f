// TorchScript's static types, hash-consed: two types of one table are equal when their addresses are.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "support/layers.h"

namespace cameo::torchscript {

enum class TypeKind : uint8_t {
  any,
  tensor,
  integer,
  floating,
  boolean,
  string,
  complex,
  number,
  none,
  device,
  generator,
  stream,
  capsule,
  storage,
  any_list,   // bare `list`: only in isinstance
  any_tuple,  // bare `tuple`: likewise
  optional,
  list,
  dict,
  tuple,
  union_of,
  future,
  await,
  rref,
  named,  // a class, NamedTuple, enum or interface of the archive, or a C++ class: Program::class_of(type) tells
  // What follows never appears in archives; schemas and the typing pass need it.
  qscheme,
  any_enum,
  any_class,
  variable,  // a schema's type variable: t, t1, tVal
  function,  // a reference to a free function held by a local; `name` is its qualified name
};

struct ClassDef;

struct Type {
  TypeKind kind;
  std::span<const Type* const> args;             // optional, list, future...: 1; dict: key, value; tuple, union_of: any
  std::string_view name;                         // named, function: the qualified name; variable: its letter
  mutable const ClassDef* definition = nullptr;  // filled by Program::class_of
  mutable bool looked_up = false;

  bool is(TypeKind k) const { return kind == k; }
  const Type* element() const { return args.empty() ? nullptr : args[0]; }
};

// As the archive spells it: "Dict[str, List[Optional[Tensor]]]", "__torch__.Net", "Tuple[()]".
std::string to_string(const Type&);

// Owns types. Addresses are stable for the table's life.
class TypeTable {
 public:
  TypeTable();
  ~TypeTable();
  TypeTable(TypeTable&&) noexcept;
  TypeTable& operator=(TypeTable&&) noexcept;

  const Type* of(TypeKind simple);                                   // a kind without arguments
  const Type* of(TypeKind kind, std::span<const Type* const> args);  // Union[T, None] becomes Optional[T]
  const Type* named(std::string_view qualified_name);                // copies the name
  const Type* function(std::string_view qualified_name);
  const Type* variable(std::string_view name);

  const Type* optional(const Type* t) { return of(TypeKind::optional, {&t, 1}); }
  const Type* list(const Type* t) { return of(TypeKind::list, {&t, 1}); }
  const Type* dict(const Type* key, const Type* value) {
    const Type* both[] = {key, value};
    return of(TypeKind::dict, both);
  }

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cameo::torchscript
