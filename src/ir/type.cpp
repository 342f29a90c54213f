#include "ir/type.h"

#include "support/error.h"

namespace cameo::ir {

namespace {
Type wrap(Type::Kind kind, Type element) {
  Type t;
  t.kind = kind;
  t.inner = std::make_shared<const Type>(std::move(element));
  return t;
}
}  // namespace

Type Type::tensor(DType elem, Shape shape) {
  Type t;
  t.kind = Kind::tensor;
  t.elem = elem;
  t.shape = std::move(shape);
  return t;
}

Type Type::tensor(DType elem) {
  Type t;
  t.kind = Kind::tensor;
  t.elem = elem;
  return t;
}

Type Type::sequence(Type element) { return wrap(Kind::sequence, std::move(element)); }
Type Type::optional(Type element) { return wrap(Kind::optional, std::move(element)); }

Type Type::map(DType key, Type value) {
  Type t = wrap(Kind::map, std::move(value));
  t.elem = key;
  return t;
}

std::string Type::text() const {
  const auto dims = [&] { return shape ? cat("[", shape_text(*shape), "]") : std::string(); };
  switch (kind) {
    case Kind::unknown: return "?";
    case Kind::tensor: return cat(info(elem).onnx_name, dims());
    case Kind::sparse_tensor: return cat("sparse_tensor(", info(elem).onnx_name, dims(), ")");
    case Kind::sequence: return cat("seq(", inner->text(), ")");
    case Kind::optional: return cat("optional(", inner->text(), ")");
    case Kind::map: return cat("map(", info(elem).onnx_name, ", ", inner->text(), ")");
  }
  return "?";
}

std::string Type::onnx_text() const {
  switch (kind) {
    case Kind::unknown: return "?";
    case Kind::tensor: return cat("tensor(", info(elem).onnx_name, ")");
    case Kind::sparse_tensor: return cat("sparse_tensor(", info(elem).onnx_name, ")");
    case Kind::sequence: return cat("seq(", inner->onnx_text(), ")");
    case Kind::optional: return cat("optional(", inner->onnx_text(), ")");
    case Kind::map: {
      // The schemas spell the value of a map as a bare element type.
      const auto value = inner->is_tensor() ? std::string(info(inner->elem).onnx_name) : inner->onnx_text();
      return cat("map(", info(elem).onnx_name, ", ", value, ")");
    }
  }
  return "?";
}

bool operator==(const Type& a, const Type& b) {
  if (a.kind != b.kind || a.elem != b.elem || a.shape != b.shape || !a.inner != !b.inner) return false;
  return !a.inner || *a.inner == *b.inner;
}

std::optional<Type> merge(const Type& a, const Type& b) {
  if (a.is_unknown()) return b;
  if (b.is_unknown()) return a;
  if (a.kind != b.kind) return std::nullopt;
  Type out = a;
  if (a.elem != b.elem) {
    if (a.elem != DType::undefined && b.elem != DType::undefined) return std::nullopt;
    if (a.elem == DType::undefined) out.elem = b.elem;
  }
  if (a.inner && b.inner) {
    auto inner = merge(*a.inner, *b.inner);
    if (!inner) return std::nullopt;
    out.inner = std::make_shared<const Type>(std::move(*inner));
  } else if (b.inner) {
    out.inner = b.inner;
  }
  if (!b.shape) return out;
  if (!a.shape) {
    out.shape = b.shape;
    return out;
  }
  if (a.shape->size() != b.shape->size()) return std::nullopt;
  for (size_t i = 0; i < a.shape->size(); ++i) {
    const Dim x = (*a.shape)[i], y = (*b.shape)[i];
    if (x.is_literal() && y.is_literal() && x != y) return std::nullopt;
    (*out.shape)[i] = more_telling(x, y);
  }
  return out;
}

Type without_sizes(const Type& t) {
  Type out = t;
  out.shape.reset();
  if (t.inner) out.inner = std::make_shared<const Type>(without_sizes(*t.inner));
  return out;
}

Type join(const Type& a, const Type& b, DimContext& context) {
  if (a.kind != b.kind || a.elem != b.elem) return {};
  Type out = a;
  if (a.inner && b.inner) out.inner = std::make_shared<const Type>(join(*a.inner, *b.inner, context));
  if (!a.shape || !b.shape || a.shape->size() != b.shape->size()) {
    out.shape.reset();
    return out;
  }
  for (size_t i = 0; i < a.shape->size(); ++i)
    if ((*a.shape)[i] != (*b.shape)[i]) (*out.shape)[i] = context.fresh();
  return out;
}

}  // namespace cameo::ir
