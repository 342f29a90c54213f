// Element types, numbered as in ONNX's TensorProto.DataType.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "support/layers.h"

namespace cameo::ir {

enum class DType : uint8_t {
  undefined = 0,
  f32 = 1,
  u8 = 2,
  i8 = 3,
  u16 = 4,
  i16 = 5,
  i32 = 6,
  i64 = 7,
  string = 8,
  boolean = 9,
  f16 = 10,
  f64 = 11,
  u32 = 12,
  u64 = 13,
  c64 = 14,
  c128 = 15,
  bf16 = 16,
  f8e4m3fn = 17,
  f8e4m3fnuz = 18,
  f8e5m2 = 19,
  f8e5m2fnuz = 20,
  u4 = 21,
  i4 = 22,
  f4e2m1 = 23,
  f8e8m0 = 24,
  u2 = 25,
  i2 = 26,
  f6e2m3 = 27,
  f6e3m2 = 28,
};
inline constexpr int dtype_count = 29;

enum class DTypeClass : uint8_t { none, floating, signed_integer, unsigned_integer, boolean, string, complex };

struct DTypeInfo {
  DType dtype;
  std::string_view name;       // Cameo's spelling: "f32"
  std::string_view onnx_name;  // in type strings and the text form: "float"
  uint8_t bits;                // of one element; 0 for strings
  DTypeClass cls;
};

const DTypeInfo& info(DType t);
std::span<const DTypeInfo> all_dtypes();
inline std::string_view name(DType t) { return info(t).name; }
inline int bits(DType t) { return info(t).bits; }
inline bool is_float(DType t) { return info(t).cls == DTypeClass::floating; }
inline bool is_complex(DType t) { return info(t).cls == DTypeClass::complex; }
inline bool is_signed_int(DType t) { return info(t).cls == DTypeClass::signed_integer; }
inline bool is_unsigned_int(DType t) { return info(t).cls == DTypeClass::unsigned_integer; }
inline bool is_int(DType t) { return is_signed_int(t) || is_unsigned_int(t); }
inline bool is_sub_byte(DType t) { return bits(t) > 0 && bits(t) < 8; }
std::optional<DType> dtype_from_name(std::string_view name);       // "f32", "bool", "f8e4m3"
std::optional<DType> dtype_from_onnx_name(std::string_view name);  // "float", "int64"
std::optional<DType> dtype_from_number(int64_t onnx_number);
// Bytes that `count` elements take, packed as in ONNX's raw data. Throws "value.range" on overflow; strings give 0.
uint64_t packed_bytes(DType t, int64_t count);

}  // namespace cameo::ir
