// include/cameo/array.h.
#include <cstring>

#include "ir/dtype.h"
#include "runtime/arrays.h"

#include "api/state.h"

namespace cameo {

namespace {

// Of the name, or "the array" where there is none.
std::string called(const std::string& name) { return name.empty() ? "the array" : cat("the array '", name, "'"); }

ir::DType dtype_of(const std::string& dtype, const std::string& name) {
  const auto known = ir::dtype_from_name(dtype);
  if (!known || *known == ir::DType::string || *known == ir::DType::undefined)
    throw error("use.array", cat(called(name), " has the dtype '", dtype, "', which there is not"))
        .help("f32, f64, f16, bf16, i8 to i64, u8 to u64, bool");
  return *known;
}

uint64_t bytes_for(ir::DType dtype, const std::vector<int64_t>& shape, const std::string& name) {
  for (const int64_t d : shape)
    if (d < 0) throw error("use.array", cat(called(name), " has a size of ", d));
  return ir::packed_bytes(dtype, ir::element_count(shape));
}

template <class T>
Array made(std::string dtype, std::vector<int64_t> shape, const std::vector<T>& values) {
  if (ir::element_count(shape) != static_cast<int64_t>(values.size()))
    throw error("use.array",
                cat("the shape takes ", ir::element_count(shape), " elements, and ", values.size(), " were given"));
  Array a;
  a.dtype = std::move(dtype);
  a.shape = std::move(shape);
  a.bytes.resize(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(a.bytes.data(), values.data(), a.bytes.size());
  return a;
}

}  // namespace

Array Array::of(std::vector<int64_t> shape, const std::vector<float>& values) {
  return made("f32", std::move(shape), values);
}
Array Array::of(std::vector<int64_t> shape, const std::vector<int64_t>& values) {
  return made("i64", std::move(shape), values);
}

void Array::check_element_size(size_t size) const {
  if (const int bits = ir::bits(dtype_of(dtype, "")); static_cast<size_t>(bits) != size * 8)
    throw error("use.array", cat("an array of ", dtype, " read by elements of ", size, " bytes"));
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
    throw error("run.kind", cat("'", name, "' is no array of numbers"));
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
  runtime::save_npz(path, out);
}

}  // namespace cameo
