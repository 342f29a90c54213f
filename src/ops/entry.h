// The generated half of an operator's definition: its attribute struct and its schemas.
#pragma once

#include "ir/op_info.h"
#include "ops/schema.h"

namespace cameo::ops {

struct OpEntry {
  OpInfo info;
  std::span<const SchemaVersion> history;  // newest first
};
std::span<const OpEntry> op_entries();  // by domain, then name

template <class T>
struct unwrapped {
  using type = T;
};
template <class T>
struct unwrapped<std::optional<T>> {
  using type = T;
};

template <class M>
struct member_of;
template <class C, class T>
struct member_of<T C::*> {
  using owner = C;
  using type = T;
};

template <auto Member>
constexpr AttrField field(std::string_view name, AttrKind kind, bool required) {
  using Owner = typename member_of<decltype(Member)>::owner;
  using T = typename member_of<decltype(Member)>::type;
  using Plain = typename unwrapped<T>::type;
  AttrField f{name, kind, required, nullptr, nullptr, nullptr};
  f.get = [](const void* attrs) -> AttrValue {
    const T& v = static_cast<const Owner*>(attrs)->*Member;
    if constexpr (std::is_same_v<T, Plain>) return v;
    else return v ? AttrValue(*v) : AttrValue();
  };
  f.set = [](void* attrs, AttrValue v) { static_cast<Owner*>(attrs)->*Member = std::get<Plain>(std::move(v)); };
  f.is_default = [](const void* attrs) {
    static const Owner fresh{};
    return static_cast<const Owner*>(attrs)->*Member == fresh.*Member;
  };
  return f;
}

template <class Attrs>
OpEntry entry(std::string_view domain, std::string_view name, std::span<const AttrField> fields,
              std::span<const std::string_view> graphs, std::span<const SchemaVersion> history) {
  const auto defaults = []() -> const std::shared_ptr<const void>& {
    static const std::shared_ptr<const void> shared = std::make_shared<const Attrs>();
    return shared;
  };
  return {{domain, name, &type_tag<Attrs>, fields, graphs,
           [] { return std::shared_ptr<void>(std::make_shared<Attrs>()); }, defaults},
          history};
}

}  // namespace cameo::ops
