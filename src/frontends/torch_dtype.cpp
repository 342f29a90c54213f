#include "frontends/torch_dtype.h"

#include <cstddef>
#include <iterator>

namespace cameo::frontends {

namespace {
struct Row {
  std::string_view name, storage;
  uint8_t size;
};
constexpr Row rows[] = {
    {"uint8", "ByteStorage", 1},
    {"int8", "CharStorage", 1},
    {"int16", "ShortStorage", 2},
    {"int32", "IntStorage", 4},
    {"int64", "LongStorage", 8},
    {"float16", "HalfStorage", 2},
    {"float32", "FloatStorage", 4},
    {"float64", "DoubleStorage", 8},
    {"complex32", "ComplexHalfStorage", 4},
    {"complex64", "ComplexFloatStorage", 8},
    {"complex128", "ComplexDoubleStorage", 16},
    {"bool", "BoolStorage", 1},
    {"qint8", "QInt8Storage", 1},
    {"quint8", "QUInt8Storage", 1},
    {"qint32", "QInt32Storage", 4},
    {"bfloat16", "BFloat16Storage", 2},
    {"quint4x2", "QUInt4x2Storage", 1},
    {"quint2x4", "QUInt2x4Storage", 1},
    {"bits1x8", "Bits1x8Storage", 1},
    {"bits2x4", "Bits2x4Storage", 1},
    {"bits4x2", "Bits4x2Storage", 1},
    {"bits8", "Bits8Storage", 1},
    {"bits16", "Bits16Storage", 2},
    {"float8_e5m2", "Float8_e5m2Storage", 1},
    {"float8_e4m3fn", "Float8_e4m3fnStorage", 1},
    {"float8_e5m2fnuz", "Float8_e5m2fnuzStorage", 1},
    {"float8_e4m3fnuz", "Float8_e4m3fnuzStorage", 1},
    {"uint16", "UInt16Storage", 2},
    {"uint32", "UInt32Storage", 4},
    {"uint64", "UInt64Storage", 8},
    {"uint1", "UInt1Storage", 1},
    {"uint2", "UInt2Storage", 1},
    {"uint3", "UInt3Storage", 1},
    {"uint4", "UInt4Storage", 1},
    {"uint5", "UInt5Storage", 1},
    {"uint6", "UInt6Storage", 1},
    {"uint7", "UInt7Storage", 1},
    {"int1", "Int1Storage", 1},
    {"int2", "Int2Storage", 1},
    {"int3", "Int3Storage", 1},
    {"int4", "Int4Storage", 1},
    {"int5", "Int5Storage", 1},
    {"int6", "Int6Storage", 1},
    {"int7", "Int7Storage", 1},
    {"float8_e8m0fnu", "Float8_e8m0fnuStorage", 1},
    {"float4_e2m1fn_x2", "Float4_e2m1fn_x2Storage", 1},
};
static_assert(std::size(rows) == torch_dtype_count);

const Row& row(TorchDtype d) { return rows[static_cast<size_t>(d)]; }

std::optional<TorchDtype> with(std::string_view Row::*field, std::string_view text) {
  for (size_t i = 0; i < std::size(rows); ++i)
    if (rows[i].*field == text) return static_cast<TorchDtype>(i);
  return std::nullopt;
}
}  // namespace

std::string_view name(TorchDtype d) { return row(d).name; }
std::string_view storage_name(TorchDtype d) { return row(d).storage; }
int item_size(TorchDtype d) { return row(d).size; }

bool is_quantized(TorchDtype d) {
  using enum TorchDtype;
  return d == qint8 || d == quint8 || d == qint32 || d == quint4x2 || d == quint2x4;
}

bool is_complex(TorchDtype d) {
  using enum TorchDtype;
  return d == complex32 || d == complex64 || d == complex128;
}

bool is_floating(TorchDtype d) {
  using enum TorchDtype;
  return d == float16 || d == float32 || d == float64 || d == bfloat16 || d >= float8_e8m0fnu ||
         (d >= float8_e5m2 && d <= float8_e4m3fnuz);
}

std::optional<TorchDtype> torch_dtype(int64_t number) {
  if (number < 0 || number >= torch_dtype_count) return std::nullopt;
  return static_cast<TorchDtype>(number);
}

std::optional<TorchDtype> torch_dtype_named(std::string_view name) { return with(&Row::name, name); }
std::optional<TorchDtype> torch_dtype_of_storage(std::string_view storage) { return with(&Row::storage, storage); }

std::string_view name(TorchLayout l) {
  static constexpr std::string_view names[] = {"strided",    "sparse_coo", "sparse_csr", "mkldnn",
                                               "sparse_csc", "sparse_bsr", "sparse_bsc", "jagged"};
  return names[static_cast<size_t>(l)];
}

}  // namespace cameo::frontends
