// The type of a value: a tensor with a symbolic shape, a sequence, an optional, a map.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "ir/dim.h"
#include "ir/dtype.h"

namespace cameo::ir {

struct Type {
  enum class Kind : uint8_t { unknown, tensor, sparse_tensor, sequence, optional, map };

  Kind kind = Kind::unknown;
  DType elem = DType::undefined;      // of a (sparse) tensor; the key's type of a map
  std::optional<Shape> shape;         // nullopt: the rank is unknown
  std::shared_ptr<const Type> inner;  // element of a sequence or optional, value of a map

  static Type tensor(DType elem, Shape shape);
  static Type tensor(DType elem);  // of unknown rank
  static Type sequence(Type element);
  static Type optional(Type element);
  static Type map(DType key, Type value);

  bool is_tensor() const { return kind == Kind::tensor; }
  bool is_sequence() const { return kind == Kind::sequence; }
  bool is_optional() const { return kind == Kind::optional; }
  bool is_unknown() const { return kind == Kind::unknown; }
  bool has_rank() const { return shape.has_value(); }
  int64_t rank() const { return static_cast<int64_t>(shape->size()); }  // precondition: has_rank()
  std::string text() const;       // "float[N,8]", "seq(float[N])", "optional(int64[])", "float" (rank unknown)
  std::string onnx_text() const;  // the schemas' spelling, without shape: "seq(tensor(float))"

  friend bool operator==(const Type& a, const Type& b);
};

// What both know: per axis the literal or the better dim; contradictions of kind, element type, rank or
// literal sizes give nullopt.
std::optional<Type> merge(const Type& declared, const Type& inferred);
Type without_sizes(const Type& t);  // kind and element type only, of what is inside too
// What holds for either (branches of an If): differing dims become fresh symbols of `context`, differing ranks unknown.
Type join(const Type& a, const Type& b, DimContext& context);

}  // namespace cameo::ir
