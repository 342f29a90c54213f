#include "lowering/arg.h"

#include <array>

#include "support/error.h"

namespace cameo::lowering {

std::string Arg::kind() const {
  static constexpr std::string_view names[] = {
      "None", "bool", "int", "float", "complex", "str", "tensor", "float from data", "bool from data", "list"};
  return std::string(names[value.index()]);
}

bool Num::is(double v) const {
  if (const auto* d = value_.as<Dim>()) return d->is_literal() && static_cast<double>(d->literal()) == v;
  if (const auto* f = value_.as<double>()) return *f == v;
  if (const auto* b = value_.as<bool>()) return static_cast<double>(*b) == v;
  return false;
}

bool Num::is_known() const {
  if (const auto* d = value_.as<Dim>()) return d->is_literal();
  return value_.as<double>() || value_.as<bool>();
}

double Num::to_double() const {
  if (const auto* f = value_.as<double>()) return *f;
  return static_cast<double>(to_int());
}

int64_t Num::to_int() const {
  if (const auto* b = value_.as<bool>()) return *b;
  if (const auto* d = value_.as<Dim>(); d && d->is_literal()) return d->literal();
  if (const auto* f = value_.as<double>()) return static_cast<int64_t>(*f);
  throw error("lower.unknown-number",
              cat("a number must be known here, and is ", value_.kind(), " that depends on the inputs"));
}

namespace {
// By torch's ScalarType number; quantized types stand for their integers.
constexpr std::array<DType, 30> torch_dtypes = {
    DType::u8,        DType::i8,         DType::i16,        DType::i32,       DType::i64,       DType::f16,
    DType::f32,       DType::f64,        DType::undefined,  DType::c64,       DType::c128,      DType::boolean,
    DType::i8,        DType::u8,         DType::i32,        DType::bf16,      DType::undefined, DType::undefined,
    DType::undefined, DType::undefined,  DType::undefined,  DType::undefined, DType::undefined, DType::f8e5m2,
    DType::f8e4m3fn,  DType::f8e5m2fnuz, DType::f8e4m3fnuz, DType::u16,       DType::u32,       DType::u64};
}  // namespace

std::optional<DType> dtype_from_torch(int64_t n) {
  if (n < 0 || n >= static_cast<int64_t>(torch_dtypes.size()) ||
      torch_dtypes[static_cast<size_t>(n)] == DType::undefined)
    return std::nullopt;
  return torch_dtypes[static_cast<size_t>(n)];
}

int64_t torch_from_dtype(DType t) {
  for (size_t i = 0; i < torch_dtypes.size(); ++i)
    if (torch_dtypes[i] == t) return static_cast<int64_t>(i);
  throw error("lower.dtype", cat("torch has no dtype for ", name(t)));
}

}  // namespace cameo::lowering
