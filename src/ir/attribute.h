// Attribute values as files hold them. Operators' own structs (ops/attributes.h) are typed; this form is used by
// readers and writers, for operators of other domains and for references inside local functions.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/tensor.h"
#include "ir/type.h"

namespace cameo::ir {

enum class AttrKind : uint8_t {  // numbered as AttributeProto.AttributeType
  undefined = 0,
  floating = 1,
  integer = 2,
  string = 3,
  tensor = 4,
  graph = 5,
  floats = 6,
  ints = 7,
  strings = 8,
  tensors = 9,
  graphs = 10,
  sparse_tensor = 11,
  sparse_tensors = 12,
  type = 13,
  types = 14,
};
std::string_view name(AttrKind kind);  // "INT", as the schemas spell it

struct SparseTensor {
  Tensor values;   // [NNZ]
  Tensor indices;  // [NNZ] or [NNZ, rank], int64
  std::vector<int64_t> shape;
  Tensor dense() const;  // throws "value.sparse" on a bad index
  friend bool operator==(const SparseTensor&, const SparseTensor&) = default;
};

// A reference to an attribute of the enclosing local function.
struct AttrRef {
  std::string name;
  AttrKind kind = AttrKind::undefined;
  friend bool operator==(const AttrRef&, const AttrRef&) = default;
};

using AttrValue =
    std::variant<std::monostate, float, int64_t, std::string, Tensor, std::vector<float>, std::vector<int64_t>,
                 std::vector<std::string>, std::vector<Tensor>, SparseTensor, Type, std::vector<Type>, AttrRef>;
AttrKind kind_of(const AttrValue& v);

struct NamedAttr {
  std::string name;
  AttrValue value;
  friend bool operator==(const NamedAttr&, const NamedAttr&) = default;
};
using NamedAttrs = std::vector<NamedAttr>;
const AttrValue* find_attr(const NamedAttrs& attrs, std::string_view name);

}  // namespace cameo::ir
