#include "ops/schema.h"

#include <bit>
#include <unordered_map>

namespace cameo::ops {

namespace {
// Type strings are few and types are asked for on every node: the index of a type without building its string.
int type_index(const Type& type) {
  static const auto by_name = [] {
    std::unordered_map<std::string_view, int> m;
    const auto names = schema_type_names();
    for (size_t i = 0; i < names.size(); ++i) m[names[i]] = static_cast<int>(i);
    return m;
  }();
  static const auto by_dtype = [] {
    std::array<int, dtype_count> a{};
    for (const auto& row : all_dtypes()) {
      const auto it = by_name.find(Type::tensor(row.dtype).onnx_text());
      a[static_cast<size_t>(row.dtype)] = it == by_name.end() ? -1 : it->second;
    }
    return a;
  }();
  if (type.is_tensor()) return by_dtype[static_cast<size_t>(type.elem)];
  const auto it = by_name.find(type.onnx_text());
  return it == by_name.end() ? -1 : it->second;
}
}  // namespace

bool admits(const TypeSet& set, const Type& type) {
  if (type.is_unknown() || (type.is_tensor() && type.elem == DType::undefined)) return true;
  const int i = type_index(type);
  return i >= 0 && set.has(i);
}

namespace {
struct TensorTypes {
  TypeSet all;
  std::array<DType, 128> dtype{};

  TensorTypes() {
    const auto names = schema_type_names();
    for (size_t i = 0; i < names.size(); ++i) {
      if (!names[i].starts_with("tensor(")) continue;
      (i < 64 ? all.low : all.high) |= uint64_t{1} << i % 64;
      dtype[i] = *dtype_from_onnx_name(names[i].substr(7, names[i].size() - 8));
    }
  }
};
const TensorTypes& tensor_types() {
  static const TensorTypes t;
  return t;
}
}  // namespace

bool only_tensors(const TypeSet& set) {
  return (set.low & ~tensor_types().all.low) == 0 && (set.high & ~tensor_types().all.high) == 0;
}

DType only_dtype(const TypeSet& set) {
  const uint64_t low = set.low & tensor_types().all.low, high = set.high & tensor_types().all.high;
  if (std::popcount(low) + std::popcount(high) != 1) return DType::undefined;
  return tensor_types().dtype[static_cast<size_t>(low ? std::countr_zero(low) : 64 + std::countr_zero(high))];
}

AttrValue AttrSpec::default_value() const {
  if (!fallback.has) return {};
  switch (kind) {
    case AttrKind::integer: return fallback.i;
    case AttrKind::floating: return fallback.f;
    case AttrKind::string: return std::string(fallback.s);
    case AttrKind::ints: return std::vector<int64_t>(fallback.ints.begin(), fallback.ints.end());
    case AttrKind::floats: return std::vector<float>(fallback.floats.begin(), fallback.floats.end());
    case AttrKind::strings: return std::vector<std::string>(fallback.strings.begin(), fallback.strings.end());
    default: return {};
  }
}

const AttrSpec* SchemaVersion::attribute(std::string_view name) const {
  for (const auto& a : attributes)
    if (a.name == name) return &a;
  return nullptr;
}

namespace {
const Formal* formal(std::span<const Formal> list, size_t i) {
  if (i < list.size()) return &list[i];
  return !list.empty() && list.back().option == Formal::variadic ? &list.back() : nullptr;
}
}  // namespace

const Formal* SchemaVersion::input(size_t i) const { return formal(inputs, i); }
const Formal* SchemaVersion::output(size_t i) const { return formal(outputs, i); }

}  // namespace cameo::ops
