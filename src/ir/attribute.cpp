#include "ir/attribute.h"

#include <cstring>

#include "support/error.h"

namespace cameo::ir {

std::string_view name(AttrKind kind) {
  static constexpr std::string_view names[] = {
      "UNDEFINED", "FLOAT",   "INT",    "STRING",        "TENSOR",         "GRAPH",      "FLOATS",     "INTS",
      "STRINGS",   "TENSORS", "GRAPHS", "SPARSE_TENSOR", "SPARSE_TENSORS", "TYPE_PROTO", "TYPE_PROTOS"};
  return names[static_cast<int>(kind)];
}

AttrKind kind_of(const AttrValue& v) {
  static constexpr AttrKind kinds[] = {
      AttrKind::undefined, AttrKind::floating, AttrKind::integer,  AttrKind::string,  AttrKind::tensor,
      AttrKind::floats,    AttrKind::ints,     AttrKind::strings,  AttrKind::tensors, AttrKind::sparse_tensor,
      AttrKind::type,      AttrKind::types,    AttrKind::undefined};
  if (const auto* ref = std::get_if<AttrRef>(&v)) return ref->kind;
  return kinds[v.index()];
}

const AttrValue* find_attr(const NamedAttrs& attrs, std::string_view name) {
  for (const auto& a : attrs)
    if (a.name == name) return &a.value;
  return nullptr;
}

Tensor SparseTensor::dense() const {
  const int64_t count = element_count(shape);
  const auto width = static_cast<size_t>(bits(values.dtype())) / 8;
  if (width == 0 || is_sub_byte(values.dtype()))
    throw error("value.sparse", "sparse tensors of this element type cannot be made dense");
  if (count > (int64_t{1} << 31))
    throw error("value.sparse", cat("a sparse tensor of ", count, " elements is too large to be made dense"));
  std::vector<std::byte> out(static_cast<size_t>(count) * width);
  const bool linear = indices.rank() == 1;
  const auto rank = static_cast<int64_t>(shape.size());
  const auto flat = indices.to_ints();
  if (flat.size() != static_cast<size_t>(values.count() * (linear ? 1 : rank)))
    throw error("value.sparse", "a sparse tensor's indices do not fit its values");
  for (int64_t i = 0; i < values.count(); ++i) {
    int64_t at = 0;
    if (linear) at = flat[static_cast<size_t>(i)];
    else
      for (int64_t a = 0; a < rank; ++a) {
        const int64_t index = flat[static_cast<size_t>(i * rank + a)], size = shape[static_cast<size_t>(a)];
        if (index < 0 || index >= size)
          throw error("value.sparse", cat("index ", index, " is outside an axis of size ", size));
        at = at * size + index;
      }
    if (at < 0 || at >= count) throw error("value.sparse", cat("index ", at, " is outside the tensor"));
    std::memcpy(out.data() + static_cast<size_t>(at) * width, values.bytes().data() + static_cast<size_t>(i) * width,
                width);
  }
  return {values.dtype(), shape, Bytes::own(std::move(out))};
}

}  // namespace cameo::ir
