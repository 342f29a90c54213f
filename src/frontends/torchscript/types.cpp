#include "frontends/torchscript/types.h"

#include <algorithm>
#include <array>
#include <functional>
#include <unordered_set>
#include <vector>

#include "support/arena.h"

namespace cameo::torchscript {

namespace {
constexpr size_t kinds = static_cast<size_t>(TypeKind::function) + 1;

constexpr std::array<std::string_view, kinds> spelling = {
    "Any",       "Tensor", "int",     "float",   "bool", "str",     "complex",     "number",       "NoneType", "Device",
    "Generator", "Stream", "Capsule", "Storage", "list", "tuple",   "Optional",    "List",         "Dict",     "Tuple",
    "Union",     "Future", "Await",   "RRef",    "",     "QScheme", "AnyEnumType", "AnyClassType", "",         "",
};

struct Hash {
  size_t operator()(const Type* t) const {
    size_t h = std::hash<std::string_view>()(t->name) * 31 + static_cast<size_t>(t->kind);
    for (const Type* a : t->args) h = h * 0x9E3779B1u + std::hash<const Type*>()(a);
    return h;
  }
};
struct Equal {
  bool operator()(const Type* a, const Type* b) const {
    return a->kind == b->kind && a->name == b->name &&
           std::equal(a->args.begin(), a->args.end(), b->args.begin(), b->args.end());
  }
};
}  // namespace

struct TypeTable::State {
  Arena arena;
  std::array<Type, kinds> simple;
  std::unordered_set<const Type*, Hash, Equal> known;

  const Type* intern(const Type& wanted) {
    if (const auto it = known.find(&wanted); it != known.end()) return *it;
    auto* made = arena.make<Type>(wanted.kind, arena.copy(wanted.args), arena.copy(wanted.name));
    known.insert(made);
    return made;
  }
};

TypeTable::TypeTable() : state_(std::make_unique<State>()) {
  for (size_t i = 0; i < kinds; ++i) state_->simple[i] = {static_cast<TypeKind>(i), {}, {}};
}
TypeTable::~TypeTable() = default;
TypeTable::TypeTable(TypeTable&&) noexcept = default;
TypeTable& TypeTable::operator=(TypeTable&&) noexcept = default;

const Type* TypeTable::of(TypeKind simple) {
  if (simple == TypeKind::tuple) return of(simple, {});
  return &state_->simple[static_cast<size_t>(simple)];
}

const Type* TypeTable::of(TypeKind kind, std::span<const Type* const> args) {
  if (kind == TypeKind::optional && args.size() == 1 && args[0]->is(TypeKind::optional)) return args[0];
  if (kind == TypeKind::union_of && args.size() == 2 && args[0] != args[1]) {
    if (args[0]->is(TypeKind::none)) return optional(args[1]);
    if (args[1]->is(TypeKind::none)) return optional(args[0]);
  }
  return state_->intern({kind, args, {}});
}

const Type* TypeTable::named(std::string_view qualified_name) {
  return state_->intern({TypeKind::named, {}, qualified_name});
}
const Type* TypeTable::function(std::string_view qualified_name) {
  return state_->intern({TypeKind::function, {}, qualified_name});
}
const Type* TypeTable::variable(std::string_view name) { return state_->intern({TypeKind::variable, {}, name}); }

namespace {
// Hostile tags can share parts without end ("Tuple[T, T]" of "Tuple[T, T]" ...), but every type comes from text, so a
// type prints no longer than what it was read from.
void append(std::string& out, const Type& t) {
  if (!t.name.empty()) {
    out += t.name;
    return;
  }
  out += spelling[static_cast<size_t>(t.kind)];
  if (t.args.empty()) {
    if (t.kind == TypeKind::tuple) out += "[()]";
    return;
  }
  out += '[';
  for (size_t i = 0; i < t.args.size(); ++i) {
    if (i) out += ", ";
    append(out, *t.args[i]);
  }
  out += ']';
}
}  // namespace

std::string to_string(const Type& type) {
  std::string out;
  append(out, type);
  return out;
}

}  // namespace cameo::torchscript
