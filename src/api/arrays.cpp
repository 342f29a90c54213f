// include/cameo/array.h, attribute.h.
#include <cstring>

#include "ir/dtype.h"
#include "ir/dtype_words.h"
#include "runtime/arrays.h"
#include "support/extension.h"

#include "api/state.h"
#include "cameo/attribute.h"

namespace cameo {

namespace {

// Of the name, or "the array" where there is none.
std::string called(const std::string& name) { return name.empty() ? "the array" : cat("the array '", name, "'"); }

ir::DType dtype_of(const std::string& dtype, const std::string& name) {
  const auto known = ir::dtype_from_name(dtype);
  const std::string_view ours = ir::dtype_in_our_words(dtype);
  if (!known || *known == ir::DType::string || *known == ir::DType::undefined)
    throw error("use.array", cat(called(name), " has the dtype '", dtype, "', which is unknown"))
        .help(ours.empty() ? "f32, f64, f16, bf16, i8 to i64, u8 to u64, bool" : cat("write ", ours));
  return *known;
}

uint64_t bytes_for(ir::DType dtype, const std::vector<int64_t>& shape, const std::string& name) {
  for (const int64_t d : shape)
    if (d < 0) throw error("use.array", cat(called(name), " has a size of ", d));
  return ir::packed_bytes(dtype, ir::element_count(shape));
}

}  // namespace

Array Array::of(std::vector<int64_t> shape, const std::vector<float>& values) {
  return of("f32", std::move(shape), values.data(), values.size() * sizeof(float));
}
Array Array::of(std::vector<int64_t> shape, const std::vector<int64_t>& values) {
  return of("i64", std::move(shape), values.data(), values.size() * sizeof(int64_t));
}
Array Array::of(const std::string& dtype, std::vector<int64_t> shape, const void* bytes, size_t size) {
  const ir::DType type = dtype_of(dtype, "");
  if (const uint64_t wanted = bytes_for(type, shape, ""); wanted != size)
    throw error("use.array", cat("the shape takes ", ir::element_count(shape), " elements of ", ir::name(type), ", ",
                                 wanted, " bytes, and ", size, " were given"));
  if (size && !bytes) throw error("use.null", "the memory of the array is a null pointer");
  Array a{std::string(ir::name(type)), std::move(shape), {}};
  a.bytes.resize(size);
  if (size) std::memcpy(a.bytes.data(), bytes, size);
  return a;
}

Attribute::Attribute(std::string n, std::initializer_list<Number> v) : name(std::move(n)) {
  std::vector<int64_t> whole;
  std::vector<double> all;
  for (const Number& x : v) {
    all.push_back(x.value);
    if (x.is_whole) whole.push_back(x.whole);
  }
  if (whole.size() == all.size()) value = std::move(whole);
  else value = std::move(all);
}
Attribute::Attribute(std::string n, std::initializer_list<Text> v) : name(std::move(n)) {
  std::vector<std::string> all;
  for (const Text& x : v) all.push_back(x.value);
  value = std::move(all);
}

void Array::check_elements(size_t size, bool whole, bool fraction) const {
  const ir::DType type = dtype_of(dtype, "");
  if (const int bits = ir::bits(type); static_cast<size_t>(bits) != size * 8)
    throw error("use.array", cat("an array of ", dtype, " read by elements of ", size, " bytes"));
  const bool is_c = type == ir::DType::f32 || type == ir::DType::f64;  // float and double
  if ((whole && is_c) || (fraction && !is_c))
    throw error("use.array", cat("an array of ", dtype, " read as ", whole ? "whole numbers" : "fractions"));
}

uint64_t ArrayView::byte_size() const { return bytes_for(dtype_of(dtype, ""), shape, ""); }

ir::Tensor tensor_of(const Array& a, const std::string& name) {
  const ir::DType dtype = dtype_of(a.dtype, name);
  const uint64_t wanted = bytes_for(dtype, a.shape, name);
  if (wanted != a.bytes.size())
    throw error("use.array", cat(called(name), " has ", a.bytes.size(), " bytes, and its shape takes ", wanted));
  return {dtype, a.shape, support::Bytes::own(a.bytes)};
}

ir::Tensor tensor_of(const ArrayView& a, const std::string& name) {
  const ir::DType dtype = dtype_of(a.dtype, name);
  const uint64_t size = bytes_for(dtype, a.shape, name);
  if (size && !a.data) throw error("use.array", cat(called(name), " has no memory"));
  return {dtype, a.shape,
          support::Bytes(nullptr, {static_cast<const std::byte*>(a.data), support::narrow<size_t>(size)})};
}

support::Bytes bytes_of(Buffer b) {
  if (b.size && !b.data) throw error("use.null", cat("a null pointer is given for ", b.size, " bytes"));
  return {std::move(b.owner), {static_cast<const std::byte*>(b.data), b.size}};
}

ir::Tensor tensor_of(const SharedArray& a, const std::string& name) {
  if (a.dtype == "str") {
    if (ir::element_count(a.shape) != static_cast<int64_t>(a.strings.size()))
      throw error("use.array", cat(called(name), " has ", a.strings.size(), " strings, and its shape takes ",
                                   ir::element_count(a.shape)));
    return {a.shape, a.strings};
  }
  const ir::DType dtype = dtype_of(a.dtype, name);
  const uint64_t wanted = bytes_for(dtype, a.shape, name);
  if (wanted != a.memory.size || (wanted && !a.memory.data))
    throw error("use.array", cat(called(name), " has ", a.memory.size, " bytes, and its shape takes ", wanted));
  return {dtype, a.shape, bytes_of(a.memory)};
}

kernels::Datum datum_of(const RunValue& v, const std::string& name) {
  using Kind = RunValue::Kind;
  if (v.kind == Kind::nothing) return {};
  if (v.kind == Kind::array) return tensor_of(v.array, name);
  std::vector<kernels::Datum> items;
  for (const RunValue& item : v.items) items.push_back(datum_of(item, name));
  if (v.kind == Kind::sequence) return kernels::Datum::sequence(std::move(items));
  std::vector<std::pair<kernels::Datum, kernels::Datum>> entries;
  for (size_t i = 0; i < items.size() && i < v.keys.size(); ++i)
    entries.emplace_back(datum_of(v.keys[i], name), std::move(items[i]));
  return kernels::Datum::map(std::move(entries));
}

SharedArray shared_of(const ir::Tensor& t) {
  SharedArray a;
  a.dtype = std::string(ir::name(t.dtype()));
  a.shape = t.shape();
  if (t.dtype() == ir::DType::string) a.strings = t.strings();
  else a.memory = {t.bytes().owner(), t.bytes().data(), t.bytes().size()};
  return a;
}

RunValue run_value_of(const kernels::Datum& d) {
  using Kind = kernels::Datum::Kind;
  if (d.kind == Kind::tensor) return shared_of(d.tensor);
  RunValue out;
  if (d.kind == Kind::sequence) {
    out.kind = RunValue::Kind::sequence;
    for (const kernels::Datum& item : *d.items) out.items.push_back(run_value_of(item));
  } else if (d.kind == Kind::map) {
    out.kind = RunValue::Kind::map;
    for (const auto& [key, value] : *d.entries) {
      out.keys.push_back(run_value_of(key));
      out.items.push_back(run_value_of(value));
    }
  }
  return out;
}

Array array_of(const ir::Tensor& t, const std::string& name) {
  if (t.dtype() == ir::DType::string) throw error("use.array", cat(called(name), " holds strings"));
  const auto bytes = t.bytes().span();
  Array a;
  a.dtype = std::string(ir::name(t.dtype()));
  a.shape = t.shape();
  a.bytes.assign(bytes.begin(), bytes.end());
  return a;
}

const ir::Tensor& numbers_in(const kernels::Datum& d, const std::string& name) {
  if (d.kind != kernels::Datum::Kind::tensor || d.tensor.dtype() == ir::DType::string)
    throw error("run.kind", cat("'", name, "' is not an array of numbers"));
  return d.tensor;
}

Array array_of(const kernels::Datum& d, const std::string& name) { return array_of(numbers_in(d, name), name); }

std::vector<NamedArray> load_arrays(const std::string& path) {
  std::vector<NamedArray> out;
  for (const auto& [name, d] : runtime::load_named(path)) out.push_back({name, array_of(d, name)});
  return out;
}

void save_arrays(const std::string& path, const std::vector<NamedArray>& arrays) {
  std::vector<runtime::NamedDatum> out;
  for (const NamedArray& a : arrays) out.push_back({a.name, tensor_of(a.array, a.name)});
  support::need_extension(path, {".npz"});
  runtime::save_npz(path, out);
}

}  // namespace cameo
