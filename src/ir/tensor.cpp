#include "ir/tensor.h"

#include <cstring>

#include "ir/number_format.h"
#include "support/error.h"

namespace cameo::ir {

int64_t element_count(std::span<const int64_t> shape) {
  // No memory holds more; and for a tensor without elements, loops over its other sizes must stay short.
  constexpr int64_t most = int64_t{1} << 36, most_beside_zero = int64_t{1} << 31;
  int64_t n = 1;
  bool empty = false, overflow = false;
  for (const int64_t d : shape) {
    if (d < 0) throw error("value.range", cat("a tensor cannot have a size of ", d));
    if (d == 0) empty = true;
    else overflow |= __builtin_mul_overflow(n, d, &n);
  }
  if (overflow || n > (empty ? most_beside_zero : most))
    throw error("value.range", "a tensor has more elements than any memory holds");
  return empty ? 0 : n;
}

Tensor::Tensor(DType dtype, std::vector<int64_t> shape, Bytes bytes)
    : dtype_(dtype), shape_(std::move(shape)), count_(element_count(shape_)), bytes_(std::move(bytes)) {
  invariant(dtype != DType::string && bytes_.size() == packed_bytes(dtype_, count_), "a tensor's bytes fit its shape");
}

Tensor::Tensor(std::vector<int64_t> shape, std::vector<std::string> strings)
    : dtype_(DType::string),
      shape_(std::move(shape)),
      count_(element_count(shape_)),
      strings_(std::make_shared<const std::vector<std::string>>(std::move(strings))) {
  invariant(strings_->size() == static_cast<size_t>(count_), "a tensor's strings fit its shape");
}

Tensor Tensor::ints(std::span<const int64_t> e) { return of<int64_t>(DType::i64, {static_cast<int64_t>(e.size())}, e); }
Tensor Tensor::int_scalar(int64_t v) { return of<int64_t>(DType::i64, {}, std::span<const int64_t>(&v, 1)); }
Tensor Tensor::float_scalar(float v) { return of<float>(DType::f32, {}, std::span<const float>(&v, 1)); }
Tensor Tensor::bool_scalar(bool v) {
  const uint8_t b = v;
  return of<uint8_t>(DType::boolean, {}, std::span<const uint8_t>(&b, 1));
}

Tensor Tensor::reshaped(std::vector<int64_t> shape) const {
  invariant(element_count(shape) == count_, "a reshape keeps the number of elements");
  Tensor t = *this;
  t.shape_ = std::move(shape);
  return t;
}

namespace {
template <class T>
T load(const Bytes& b, int64_t i) {
  T v;
  std::memcpy(&v, b.data() + static_cast<size_t>(i) * sizeof(T), sizeof(T));
  return v;
}

uint32_t sub_byte(const Bytes& b, int64_t i, int width) {
  const auto bit = static_cast<uint64_t>(i) * static_cast<uint64_t>(width);
  const size_t at = static_cast<size_t>(bit / 8);
  uint32_t word = std::to_integer<uint32_t>(b.data()[at]);
  if (at + 1 < b.size()) word |= std::to_integer<uint32_t>(b.data()[at + 1]) << 8;
  return word >> (bit % 8) & ((1u << width) - 1);
}

int64_t sign_extend(uint32_t code, int width) {
  const uint32_t sign = 1u << (width - 1);
  return static_cast<int64_t>(code ^ sign) - static_cast<int64_t>(sign);
}
}  // namespace

int64_t Tensor::int_at(int64_t i) const {
  if (i < 0 || i >= count_) throw error("value.range", cat("a tensor of ", count_, " elements has no element ", i));
  switch (dtype_) {
    case DType::i64: return load<int64_t>(bytes_, i);
    case DType::i32: return load<int32_t>(bytes_, i);
    case DType::i16: return load<int16_t>(bytes_, i);
    case DType::i8: return load<int8_t>(bytes_, i);
    case DType::u64: return narrow<int64_t>(load<uint64_t>(bytes_, i));
    case DType::u32: return load<uint32_t>(bytes_, i);
    case DType::u16: return load<uint16_t>(bytes_, i);
    case DType::u8: return load<uint8_t>(bytes_, i);
    case DType::boolean: return load<uint8_t>(bytes_, i) != 0;
    case DType::u4:
    case DType::u2: return sub_byte(bytes_, i, bits(dtype_));
    case DType::i4:
    case DType::i2: return sign_extend(sub_byte(bytes_, i, bits(dtype_)), bits(dtype_));
    default: throw error("value.type", cat("a tensor of ", name(dtype_), " has no integer elements"));
  }
}

double Tensor::double_at(int64_t i) const {
  if (i < 0 || i >= count_) throw error("value.range", cat("a tensor of ", count_, " elements has no element ", i));
  switch (dtype_) {
    case DType::f32: return static_cast<double>(load<float>(bytes_, i));
    case DType::f64: return load<double>(bytes_, i);
    case DType::f16:
    case DType::bf16: return static_cast<double>(decode_float(dtype_, load<uint16_t>(bytes_, i)));
    case DType::u64: return static_cast<double>(load<uint64_t>(bytes_, i));
    case DType::f4e2m1:
    case DType::f6e2m3:
    case DType::f6e3m2: return static_cast<double>(decode_float(dtype_, sub_byte(bytes_, i, bits(dtype_))));
    default:
      if (is_float(dtype_)) return static_cast<double>(decode_float(dtype_, load<uint8_t>(bytes_, i)));
      return static_cast<double>(int_at(i));
  }
}

std::vector<int64_t> Tensor::to_ints() const {
  std::vector<int64_t> out(static_cast<size_t>(count_));
  for (int64_t i = 0; i < count_; ++i) out[static_cast<size_t>(i)] = int_at(i);
  return out;
}

std::vector<double> Tensor::to_doubles() const {
  std::vector<double> out(static_cast<size_t>(count_));
  for (int64_t i = 0; i < count_; ++i) out[static_cast<size_t>(i)] = double_at(i);
  return out;
}

bool operator==(const Tensor& a, const Tensor& b) {
  if (a.dtype_ != b.dtype_ || a.shape_ != b.shape_) return false;
  if (a.dtype_ == DType::string) return *a.strings_ == *b.strings_;
  return a.bytes_.size() == b.bytes_.size() &&
         (a.bytes_.empty() || !std::memcmp(a.bytes_.data(), b.bytes_.data(), a.bytes_.size()));
}

}  // namespace cameo::ir
