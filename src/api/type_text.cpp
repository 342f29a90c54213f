#include "api/type_text.h"

#include "support/error.h"

namespace cameo::api {

std::string type_text(const Type& t) {
  switch (t.kind) {
    case Type::Kind::unknown: return "?";
    case Type::Kind::sequence: return cat("seq(", t.inner ? type_text(*t.inner) : "?", ")");
    case Type::Kind::optional: return cat("optional(", t.inner ? type_text(*t.inner) : "?", ")");
    case Type::Kind::map: return cat("map(", name(t.elem), ", ", t.inner ? type_text(*t.inner) : "?", ")");
    case Type::Kind::tensor:
    case Type::Kind::sparse_tensor: break;
  }
  std::string out(t.elem == DType::undefined ? "?" : name(t.elem));
  if (t.kind == Type::Kind::sparse_tensor) out = "sparse " + out;
  if (!t.has_rank()) return out + "[...]";
  out += "[";
  for (const std::string& size : size_texts(*t.shape)) out += cat(out.ends_with('[') ? "" : ",", size);
  return out + "]";
}

std::string dtype_text(const Type& t) {
  return t.is_tensor() && t.elem != DType::undefined ? std::string(name(t.elem)) : "";
}

std::vector<std::string> size_texts(const Shape& shape) {
  std::vector<std::string> out;
  for (const Dim d : shape) out.push_back(d.is_symbol() && is_fresh(d) ? "?" : d.text());
  return out;
}

}  // namespace cameo::api
