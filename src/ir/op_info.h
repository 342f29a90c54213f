// What the graph needs to know of an operator: its name, its attribute struct and that struct's fields. The operators
// themselves (shape rules, kernels, versions) are one layer up, in ops/.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "ir/attribute.h"

namespace cameo::ir {

// One attribute of an operator's struct. `get` gives monostate for an absent optional attribute.
struct AttrField {
  std::string_view name;
  AttrKind kind;
  bool required;
  AttrValue (*get)(const void* attrs);
  void (*set)(void* attrs, AttrValue value);  // precondition: the value's kind is `kind`
  bool (*is_default)(const void* attrs);      // absent, or equal to the schema's default
};

struct OpInfo {
  std::string_view domain;  // "" is ai.onnx
  std::string_view name;
  const void* attrs_tag = nullptr;  // &type_tag<T> of its attribute struct; null for operators Cameo does not know
  std::span<const AttrField> fields;
  std::span<const std::string_view> graph_attrs;               // names of the regions, in the order of Node::regions
  std::shared_ptr<void> (*make)() = nullptr;                   // a struct with defaults
  const std::shared_ptr<const void>& (*defaults)() = nullptr;  // the one that nodes share which set nothing

  bool is_opaque() const { return attrs_tag == nullptr; }
};

template <class T>
inline constexpr char type_tag = 0;

// The entry of an operator that Cameo does not know (custom domains, opsets newer than ours); one per name, for ever.
const OpInfo& opaque_op(std::string_view domain, std::string_view name);

}  // namespace cameo::ir
