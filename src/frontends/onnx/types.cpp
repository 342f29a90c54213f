#include "frontends/onnx/types.h"

#include <algorithm>

#include "ir/dim_table.h"
#include "support/budget.h"

namespace cameo::onnx {

Dim TypeReader::param(std::string_view name) {
  if (const Dim* known = known_.find(name)) return *known;
  const Dim d = read_param(name);
  known_.emplace(name, d);
  return d;
}

Dim TypeReader::read_param(std::string_view name) {
  if (const auto known = clashing_.find(name); known != clashing_.end()) return known->second;
  checkpoint();
  constexpr size_t longest = size_t{32} << 10, is_long = 256, most = size_t{256} << 10;
  if (name.size() > is_long) long_names_ += name.size();
  if (name.size() > longest || long_names_ > most)
    throw over_budget("text",
                      name.size() > longest ? cat("the name of a size has ", name.size(), " characters")
                                            : cat("long names of sizes have more than ", most, " characters together"),
                      "");
  const auto plain = [&] {
    dims_.table().note_plain(name);
    return dims_.symbol(name);
  };
  Dim d;
  try {
    d = parse_dim(dims_, name);
    if (d.is_literal() || d.text() != name) d = plain();
  } catch (const Error&) {
    d = plain();
  }
  if (!mentions_fresh(d)) return d;
  return clashing_.emplace(std::string(name), dims_.fresh()).first->second;
}

namespace {

// paddle2onnx and others write "?" for every size that they do not know: it names none.
bool names_a_size(const DimProto& d) { return d.param && !d.param->empty() && *d.param != "?"; }

}  // namespace

Dim TypeReader::dim(const DimProto& d, std::string_view hint) {
  if (d.value && *d.value >= 0) return Dim(*d.value);
  if (names_a_size(d)) return param(*d.param);
  return dims_.fresh(hint);  // unknown; some writers use -1
}

void TypeReader::reserve(const TypeProto& t) {
  if (t.shape)
    for (const DimProto& d : *t.shape)
      if (names_a_size(d)) param(*d.param);
  for (const TypeProto& inner : t.inner) reserve(inner);
}

Type TypeReader::type(const TypeProto& t, std::string_view hint) {
  using enum TypeProto::Kind;
  Type out;
  const auto elem = [&] { return dtype_from_number(t.elem).value_or(DType::undefined); };
  const auto inner = [&] { return t.inner.empty() ? Type() : type(t.inner.front(), hint); };
  switch (t.kind) {
    case none:
    case opaque: return out;
    case tensor:
    case sparse_tensor:
      out.kind = t.kind == tensor ? Type::Kind::tensor : Type::Kind::sparse_tensor;
      out.elem = elem();
      if (t.shape) {
        out.shape.emplace();
        for (const DimProto& d : *t.shape) out.shape->push_back(dim(d, hint));
      }
      return out;
    case sequence: return Type::sequence(inner());
    case optional: return Type::optional(inner());
    case map: return Type::map(elem(), inner());
  }
  return out;
}

}  // namespace cameo::onnx
