#include "kernels/carrier.h"

#include <cstring>
#include <type_traits>

#include "kernels/move.h"
#include "kernels/number_cast.h"
#include "support/error.h"

namespace cameo::kernels {

Carrier carrier_of(DType t) {
  if (t == DType::f64) return Carrier::f64;
  if (is_float(t)) return Carrier::f32;
  if (is_signed_int(t)) return Carrier::i64;
  if (is_unsigned_int(t)) return Carrier::u64;
  return t == DType::boolean ? Carrier::boolean : Carrier::none;
}

void no_carrier(DType t) {
  throw error("eval.type", cat("elements of type ", name(t), " cannot be computed with here"));
}

namespace {

template <class C, class S>
void load_as(const Tensor& t, std::vector<C>& out) {
  for (size_t i = 0; i < out.size(); ++i) {
    S v;
    std::memcpy(&v, t.bytes().data() + i * sizeof(S), sizeof(S));
    out[i] = cast_number<C>(v);
  }
}

template <class C>
void load_small(const Tensor& t, std::vector<C>& out) {
  const DType d = t.dtype();
  if (d == DType::f16 || d == DType::bf16) {
    for (size_t i = 0; i < out.size(); ++i) {
      uint16_t v;
      std::memcpy(&v, t.bytes().data() + i * 2, 2);
      out[i] = cast_number<C>(decode_float(d, v));
    }
    return;
  }
  const auto codes = unpack_codes(t);
  for (size_t i = 0; i < out.size(); ++i) {
    if (is_float(d)) out[i] = cast_number<C>(decode_float(d, codes[i]));
    else if (is_signed_int(d)) {
      const int sign = 1 << (bits(d) - 1);
      out[i] = cast_number<C>(static_cast<int64_t>((codes[i] ^ sign) - sign));
    } else out[i] = cast_number<C>(static_cast<uint64_t>(codes[i]));
  }
}

template <class C>
constexpr bool stored_as(DType t) {
  if constexpr (std::is_same_v<C, float>) return t == DType::f32;
  if constexpr (std::is_same_v<C, double>) return t == DType::f64;
  if constexpr (std::is_same_v<C, int64_t>) return t == DType::i64;
  if constexpr (std::is_same_v<C, uint64_t>) return t == DType::u64;
  return false;
}

template <class S, class C>
std::vector<std::byte> store_as(std::span<const C> values) {
  std::vector<std::byte> out(values.size() * sizeof(S));
  for (size_t i = 0; i < values.size(); ++i) {
    S v;
    if constexpr (std::is_integral_v<S> && std::is_floating_point_v<C>)
      v = static_cast<S>(cast_number<int64_t>(values[i]));
    else v = static_cast<S>(values[i]);
    std::memcpy(out.data() + i * sizeof(S), &v, sizeof(S));
  }
  return out;
}

}  // namespace

template <class C>
Loaded<C>::Loaded(const Tensor& t) : keep_(t) {
  const bool aligned = reinterpret_cast<uintptr_t>(t.bytes().data()) % alignof(C) == 0;
  constexpr bool may_be_places = std::is_same_v<C, int64_t>;  // checked, then used: nobody else may change them
  if (stored_as<C>(t.dtype()) && aligned && !may_be_places) {
    values_ = t.as<C>();
    return;
  }
  storage_.resize(static_cast<size_t>(t.count()));
  switch (t.dtype()) {
    case DType::f32: load_as<C, float>(t, storage_); break;
    case DType::f64: load_as<C, double>(t, storage_); break;
    case DType::i64: load_as<C, int64_t>(t, storage_); break;
    case DType::i32: load_as<C, int32_t>(t, storage_); break;
    case DType::i16: load_as<C, int16_t>(t, storage_); break;
    case DType::i8: load_as<C, int8_t>(t, storage_); break;
    case DType::u64: load_as<C, uint64_t>(t, storage_); break;
    case DType::u32: load_as<C, uint32_t>(t, storage_); break;
    case DType::u16: load_as<C, uint16_t>(t, storage_); break;
    case DType::u8: load_as<C, uint8_t>(t, storage_); break;
    case DType::boolean:
      for (size_t i = 0; i < storage_.size(); ++i) storage_[i] = t.bytes().data()[i] != std::byte{0};
      break;
    case DType::string:
    case DType::c64:
    case DType::c128:
    case DType::undefined: no_carrier(t.dtype());
    default: load_small(t, storage_);
  }
  values_ = storage_;
}

template <class C>
Tensor store(DType dtype, std::vector<int64_t> shape, std::span<const C> values, Overflow overflow) {
  const auto plain = [&](std::vector<std::byte> bytes) {
    return Tensor(dtype, std::move(shape), Bytes::own(std::move(bytes)));
  };
  switch (dtype) {
    case DType::f32: return plain(store_as<float>(values));
    case DType::f64: return plain(store_as<double>(values));
    case DType::i64: return plain(store_as<int64_t>(values));
    case DType::i32: return plain(store_as<int32_t>(values));
    case DType::i16: return plain(store_as<int16_t>(values));
    case DType::i8: return plain(store_as<int8_t>(values));
    case DType::u64:
      if constexpr (std::is_floating_point_v<C>) {
        std::vector<uint64_t> wide(values.size());
        for (size_t i = 0; i < wide.size(); ++i) wide[i] = cast_number<uint64_t>(values[i]);
        return plain(store_as<uint64_t>(std::span<const uint64_t>(wide)));
      } else return plain(store_as<uint64_t>(values));
    case DType::u32: return plain(store_as<uint32_t>(values));
    case DType::u16: return plain(store_as<uint16_t>(values));
    case DType::u8: return plain(store_as<uint8_t>(values));
    case DType::boolean: {
      std::vector<std::byte> bytes(values.size());
      for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = std::byte{values[i] != C{}};
      return plain(std::move(bytes));
    }
    case DType::f16:
    case DType::bf16: {
      std::vector<std::byte> bytes(values.size() * 2);
      for (size_t i = 0; i < values.size(); ++i) {
        const auto code =
            static_cast<uint16_t>(encode_float(dtype, static_cast<double>(values[i]), Overflow::to_inf_or_nan));
        std::memcpy(bytes.data() + i * 2, &code, 2);
      }
      return plain(std::move(bytes));
    }
    case DType::string:
    case DType::c64:
    case DType::c128:
    case DType::undefined: no_carrier(dtype);
    default: break;
  }
  std::vector<uint8_t> codes(values.size());
  for (size_t i = 0; i < codes.size(); ++i)
    codes[i] = is_float(dtype) ? static_cast<uint8_t>(encode_float(dtype, static_cast<double>(values[i]), overflow))
                               : static_cast<uint8_t>(cast_number<int64_t>(values[i]) & ((1 << bits(dtype)) - 1));
  return pack_codes(dtype, std::move(shape), codes);
}

template class Loaded<float>;
template class Loaded<double>;
template class Loaded<int64_t>;
template class Loaded<uint64_t>;
template class Loaded<uint8_t>;
template Tensor store(DType, std::vector<int64_t>, std::span<const float>, Overflow);
template Tensor store(DType, std::vector<int64_t>, std::span<const double>, Overflow);
template Tensor store(DType, std::vector<int64_t>, std::span<const int64_t>, Overflow);
template Tensor store(DType, std::vector<int64_t>, std::span<const uint64_t>, Overflow);
template Tensor store(DType, std::vector<int64_t>, std::span<const uint8_t>, Overflow);

Tensor convert(const Tensor& t, DType to, Overflow overflow) {
  if (t.dtype() == to) return t;
  return with_carrier(t.dtype(), [&](auto c) { return store(to, t.shape(), Loaded<decltype(c)>(t).span(), overflow); });
}

Tensor full(DType dtype, std::vector<int64_t> shape, double value) {
  const auto n = static_cast<size_t>(element_count(shape));
  return store(dtype, std::move(shape), std::vector<double>(n, value));
}

Tensor zeros(DType dtype, std::vector<int64_t> shape) {
  const int64_t n = element_count(shape);
  if (dtype == DType::string) return Tensor(std::move(shape), std::vector<std::string>(static_cast<size_t>(n)));
  return {dtype, std::move(shape), Bytes::own(std::vector<std::byte>(static_cast<size_t>(packed_bytes(dtype, n))))};
}

}  // namespace cameo::kernels
