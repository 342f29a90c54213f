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
  for (size_t i = 0; i < t.shape->size(); ++i) {
    const Dim d = (*t.shape)[i];
    out += cat(i ? "," : "", d.is_symbol() && is_fresh(d) ? "?" : d.text());
  }
  return out + "]";
}

}  // namespace cameo::api
