#include "property/sampler.h"

#include "support/error.h"

namespace cameo::tests {

bool describes(const Type& type, const Tensor& t) {
  if (type.is_unknown()) return true;
  if (type.is_optional()) return describes(*type.inner, t);  // a full optional is its element
  if (!type.is_tensor() || (type.elem != DType::undefined && type.elem != t.dtype())) return false;
  if (!type.has_rank()) return true;
  if (type.rank() != t.rank()) return false;
  for (size_t i = 0; i < t.shape().size(); ++i)
    if ((*type.shape)[i].is_literal() && (*type.shape)[i].literal() != t.shape()[i]) return false;
  return true;
}

std::string describe_operands(const std::vector<Datum>& operands) {
  std::string out;
  for (const Datum& d : operands) {
    out += d.kind == Datum::Kind::none ? " none" : cat(" ", name(d.tensor.dtype()), "[");
    if (d.kind == Datum::Kind::none) continue;
    for (const int64_t i : d.tensor.shape()) out += cat(i, ",");
    out += "]";
    if (d.tensor.count() <= 6 && is_int(d.tensor.dtype()))
      for (int64_t i = 0; i < d.tensor.count(); ++i) out += cat(i ? "," : "=", d.tensor.int_at(i));
  }
  return out;
}

}  // namespace cameo::tests
