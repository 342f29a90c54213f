#include "ir/dtype.h"

#include "support/error.h"

namespace cameo::ir {

namespace {
using enum DTypeClass;
constexpr DTypeInfo table[dtype_count] = {
    {DType::undefined, "undefined", "undefined", 0, none},
    {DType::f32, "f32", "float", 32, floating},
    {DType::u8, "u8", "uint8", 8, unsigned_integer},
    {DType::i8, "i8", "int8", 8, signed_integer},
    {DType::u16, "u16", "uint16", 16, unsigned_integer},
    {DType::i16, "i16", "int16", 16, signed_integer},
    {DType::i32, "i32", "int32", 32, signed_integer},
    {DType::i64, "i64", "int64", 64, signed_integer},
    {DType::string, "str", "string", 0, string},
    {DType::boolean, "bool", "bool", 8, boolean},
    {DType::f16, "f16", "float16", 16, floating},
    {DType::f64, "f64", "double", 64, floating},
    {DType::u32, "u32", "uint32", 32, unsigned_integer},
    {DType::u64, "u64", "uint64", 64, unsigned_integer},
    {DType::c64, "c64", "complex64", 64, complex},
    {DType::c128, "c128", "complex128", 128, complex},
    {DType::bf16, "bf16", "bfloat16", 16, floating},
    {DType::f8e4m3fn, "f8e4m3", "float8e4m3fn", 8, floating},
    {DType::f8e4m3fnuz, "f8e4m3fnuz", "float8e4m3fnuz", 8, floating},
    {DType::f8e5m2, "f8e5m2", "float8e5m2", 8, floating},
    {DType::f8e5m2fnuz, "f8e5m2fnuz", "float8e5m2fnuz", 8, floating},
    {DType::u4, "u4", "uint4", 4, unsigned_integer},
    {DType::i4, "i4", "int4", 4, signed_integer},
    {DType::f4e2m1, "f4e2m1", "float4e2m1", 4, floating},
    {DType::f8e8m0, "f8e8m0", "float8e8m0", 8, floating},
    {DType::u2, "u2", "uint2", 2, unsigned_integer},
    {DType::i2, "i2", "int2", 2, signed_integer},
    {DType::f6e2m3, "f6e2m3", "float6e2m3", 6, floating},
    {DType::f6e3m2, "f6e3m2", "float6e3m2", 6, floating},
};
}  // namespace

const DTypeInfo& info(DType t) {
  const auto row = static_cast<size_t>(t);
  return table[row < std::size(table) ? row : 0];
}
std::span<const DTypeInfo> all_dtypes() { return table; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (const auto& row : table)
    if (row.name == name && row.dtype != DType::undefined) return row.dtype;
  return std::nullopt;
}

std::optional<DType> dtype_from_onnx_name(std::string_view name) {
  for (const auto& row : table)
    if (row.onnx_name == name && row.dtype != DType::undefined) return row.dtype;
  return std::nullopt;
}

std::optional<DType> dtype_from_number(int64_t n) {
  if (n <= 0 || n >= dtype_count) return std::nullopt;
  return static_cast<DType>(n);
}

uint64_t packed_bytes(DType t, int64_t count) {
  if (count < 0 || (bits(t) && count > INT64_MAX / bits(t)))
    throw error("value.range", cat("a tensor of ", count, " elements is too large"));
  return (static_cast<uint64_t>(count) * static_cast<uint64_t>(bits(t)) + 7) / 8;
}

}  // namespace cameo::ir
