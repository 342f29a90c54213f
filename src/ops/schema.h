// ONNX's operator schemas with their whole history, generated from the facts.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "ir/attribute.h"
#include "ir/type.h"

namespace cameo::ops {

inline constexpr int newest_released_opset = 27;
inline constexpr int newest_opset = 28;  // in development; also the canonical encoding inside Cameo

// A set of the type strings of schema_type_names().
struct TypeSet {
  uint64_t low = 0, high = 0;
  constexpr bool has(int i) const { return ((i < 64 ? low >> i : high >> (i - 64)) & 1) != 0; }
  constexpr bool empty() const { return low == 0 && high == 0; }
};
std::span<const std::string_view> schema_type_names();
bool admits(const TypeSet& set, const Type& type);  // kind and element type; an unknown type is admitted
bool only_tensors(const TypeSet& set);              // of whatever element type
DType only_dtype(const TypeSet& set);               // the element type if there is only one, else undefined

struct TypeVar {
  std::string_view name;
  TypeSet types;
};

struct Formal {
  enum Option : uint8_t { single, optional, variadic };
  std::string_view name;
  Option option;
  bool homogeneous;
  uint16_t min_arity;
  int8_t type_var;  // index into SchemaVersion::types, or -1: `types` says
  TypeSet types;
};

struct AttrDefault {
  bool has = false;
  int64_t i = 0;
  float f = 0;
  std::string_view s{};
  std::span<const int64_t> ints{};
  std::span<const float> floats{};
  std::span<const std::string_view> strings{};
};

struct AttrSpec {
  std::string_view name;
  AttrKind kind;
  bool required;
  AttrDefault fallback;
  AttrValue default_value() const;  // monostate when there is none
};

inline constexpr uint16_t unbounded_arity = 65535;

struct SchemaVersion {
  uint16_t since;
  bool deprecated;
  bool function;
  uint16_t min_in, max_in, min_out, max_out;
  std::span<const Formal> inputs, outputs;
  std::span<const AttrSpec> attributes;
  std::span<const TypeVar> types;

  const AttrSpec* attribute(std::string_view name) const;
  // The formal parameter of operand `i`: the variadic last one repeats. Null when there are not so many.
  const Formal* input(size_t i) const;
  const Formal* output(size_t i) const;
  TypeSet types_of(const Formal& f) const {
    return f.type_var < 0 ? f.types : types[static_cast<size_t>(f.type_var)].types;
  }
};

}  // namespace cameo::ops
