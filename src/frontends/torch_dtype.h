// PyTorch's own numberings, which archives store as plain ints.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "support/layers.h"

namespace cameo::frontends {

// c10::ScalarType: the value is the number found in archives (`torch.to(x, 6)`), the name is `torch.<name>`.
enum class TorchDtype : uint8_t {
  uint8,
  int8,
  int16,
  int32,
  int64,
  float16,
  float32,
  float64,
  complex32,
  complex64,
  complex128,
  boolean,
  qint8,
  quint8,
  qint32,
  bfloat16,
  quint4x2,
  quint2x4,
  bits1x8,
  bits2x4,
  bits4x2,
  bits8,
  bits16,
  float8_e5m2,
  float8_e4m3fn,
  float8_e5m2fnuz,
  float8_e4m3fnuz,
  uint16,
  uint32,
  uint64,
  uint1,
  uint2,
  uint3,
  uint4,
  uint5,
  uint6,
  uint7,
  int1,
  int2,
  int3,
  int4,
  int5,
  int6,
  int7,
  float8_e8m0fnu,
  float4_e2m1fn_x2,
};
constexpr int torch_dtype_count = 46;

std::string_view name(TorchDtype);          // "float32", "bool": as after "torch."
std::string_view storage_name(TorchDtype);  // "FloatStorage", as in pickles
int item_size(TorchDtype);                  // bytes of one stored element (two or four values for quint4x2, quint2x4)
bool is_quantized(TorchDtype);
bool is_complex(TorchDtype);
bool is_floating(TorchDtype);  // real floating point, the 8-bit and 4-bit ones included

std::optional<TorchDtype> torch_dtype(int64_t number);
std::optional<TorchDtype> torch_dtype_named(std::string_view name);
std::optional<TorchDtype> torch_dtype_of_storage(std::string_view storage_name);

enum class TorchLayout : uint8_t {
  strided,
  sparse_coo,
  sparse_csr,
  mkldnn,
  sparse_csc,
  sparse_bsr,
  sparse_bsc,
  jagged,
};
std::string_view name(TorchLayout);

}  // namespace cameo::frontends
