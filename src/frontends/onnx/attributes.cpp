#include "frontends/onnx/attributes.h"

#include "support/error.h"

namespace cameo::onnx {

AttrKind attribute_kind(const AttributeProto& a) {
  if (a.type > 0 && a.type <= static_cast<int64_t>(AttrKind::types)) return static_cast<AttrKind>(a.type);
  if (a.f) return AttrKind::floating;
  if (a.i) return AttrKind::integer;
  if (a.s) return AttrKind::string;
  if (a.has_floats) return AttrKind::floats;
  if (a.has_ints) return AttrKind::ints;
  if (a.has_strings) return AttrKind::strings;
  if (!a.tensors.empty()) return a.list ? AttrKind::tensors : AttrKind::tensor;
  if (!a.graphs.empty()) return a.list ? AttrKind::graphs : AttrKind::graph;
  if (!a.sparse_tensors.empty()) return a.list ? AttrKind::sparse_tensors : AttrKind::sparse_tensor;
  if (!a.types.empty()) return a.list ? AttrKind::types : AttrKind::type;
  return AttrKind::undefined;
}

namespace {
const pb::Field& only(const std::vector<pb::Field>& fields, const AttributeProto& a) {
  if (fields.empty())
    throw error("model.attribute", cat("attribute '", a.name, "' says ", name(attribute_kind(a)), " and holds none"));
  return fields.back();
}
}  // namespace

AttrValue to_attribute(const AttributeProto& a, TensorSource& source, TypeReader& types) {
  const AttrKind kind = attribute_kind(a);
  if (!a.ref.empty()) return AttrRef{std::string(a.ref), kind};
  switch (kind) {
    case AttrKind::floating: return a.f.value_or(0.0f);
    case AttrKind::integer: return a.i.value_or(0);
    case AttrKind::string: return std::string(a.s.value_or(""));
    case AttrKind::floats: return a.floats;
    case AttrKind::ints: return a.ints;
    case AttrKind::strings: return std::vector<std::string>(a.strings.begin(), a.strings.end());
    case AttrKind::tensor: return to_tensor(read_tensor(only(a.tensors, a).message()), source);
    case AttrKind::tensors: {
      std::vector<Tensor> out;
      for (const auto& f : a.tensors) out.push_back(to_tensor(read_tensor(f.message()), source));
      return out;
    }
    case AttrKind::sparse_tensor:
      return to_sparse_tensor(read_sparse_tensor(only(a.sparse_tensors, a).message()), source);
    case AttrKind::type: return types.type(read_type(only(a.types, a).message()), a.name);
    case AttrKind::types: {
      std::vector<Type> out;
      for (const auto& f : a.types) out.push_back(types.type(read_type(f.message()), a.name));
      return out;
    }
    default:
      throw error("model.attribute",
                  cat("attribute '", a.name, "' has the kind ", name(kind), ", which Cameo does not read"));
  }
}

}  // namespace cameo::onnx
