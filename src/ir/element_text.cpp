#include "ir/element_text.h"

#include <charconv>
#include <cmath>
#include <cstring>

#include "ir/number_format.h"
#include "support/error.h"
#include "support/number_text.h"

namespace cameo::ir {

namespace {

uint64_t bits_at(const Tensor& t, int width, int64_t i) {
  const auto* bytes = t.bytes().data();
  const uint64_t first = static_cast<uint64_t>(i) * static_cast<uint64_t>(width);
  uint64_t out = 0;
  if (width >= 8) {
    for (int k = 0; k < width / 8; ++k)
      out |= static_cast<uint64_t>(bytes[static_cast<size_t>(first / 8) + static_cast<size_t>(k)]) << (8 * k);
    return out;
  }
  for (int k = 0; k < width; ++k) {
    const uint64_t at = first + static_cast<uint64_t>(k);
    out |= (static_cast<uint64_t>(bytes[static_cast<size_t>(at / 8)]) >> (at % 8) & 1) << k;
  }
  return out;
}

uint32_t small_code(DType t, double v) {
  return t == DType::f8e8m0 ? encode_e8m0(v, E8M0Rounding::nearest, true) : encode_float(t, v);
}

template <class T>
T from_bits(uint64_t bits) {
  T v;
  if constexpr (sizeof(T) == 4) {
    const auto low = static_cast<uint32_t>(bits);
    std::memcpy(&v, &low, sizeof v);
  } else {
    std::memcpy(&v, &bits, sizeof v);
  }
  return v;
}

template <class T>
uint64_t to_bits(T v) {
  uint64_t bits = 0;
  if constexpr (sizeof(T) == 4) {
    uint32_t low = 0;
    std::memcpy(&low, &v, sizeof v);
    bits = low;
  } else {
    std::memcpy(&bits, &v, sizeof v);
  }
  return bits;
}

// NaNs other than the two usual ones keep their payload: nan(2143289345).
template <class T>
void append_float(std::string& out, uint64_t bits, ElementStyle style) {
  const T v = from_bits<T>(bits);
  const uint64_t usual = sizeof(T) == 4 ? 0x7fc00000u : 0x7ff8000000000000u,
                 sign = sizeof(T) == 4 ? 0x80000000u : uint64_t{1} << 63;
  if (std::isnan(v) && (bits & ~sign) != usual && style == ElementStyle::readable)
    return void(out += cat("nan(", bits, ")"));
  append_shortest(out, v);
}

template <class T>
std::optional<uint64_t> parse_ieee(std::string_view text) {
  if (text.starts_with("nan(") && text.ends_with(")")) {
    uint64_t bits = 0;
    const auto [end, code] = std::from_chars(text.data() + 4, text.data() + text.size() - 1, bits);
    if (code != std::errc() || end != text.data() + text.size() - 1 || (sizeof(T) == 4 && bits > UINT32_MAX))
      return std::nullopt;
    return std::isnan(from_bits<T>(bits)) ? std::optional(bits) : std::nullopt;
  }
  if constexpr (sizeof(T) == 4) {
    const auto v = parse_float(text);
    return v ? std::optional(to_bits(*v)) : std::nullopt;
  } else {
    const auto v = parse_double(text);
    return v ? std::optional(to_bits(*v)) : std::nullopt;
  }
}

template <class T>
std::optional<T> whole(std::string_view text) {
  T v{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return v;
}

std::optional<uint64_t> parse_unsigned(std::string_view text, int width) {
  const auto v = whole<uint64_t>(text);
  if (!v || (width < 64 && *v >> width != 0)) return std::nullopt;
  return v;
}

std::optional<uint64_t> parse_signed(std::string_view text, int width) {
  const auto v = whole<int64_t>(text);
  if (!v) return std::nullopt;
  const int64_t limit = width < 64 ? int64_t{1} << (width - 1) : 0;
  if (width < 64 && (*v < -limit || *v >= limit)) return std::nullopt;
  return width < 64 ? static_cast<uint64_t>(*v) & ((uint64_t{1} << width) - 1) : static_cast<uint64_t>(*v);
}

}  // namespace

DType part_type(DType t) { return t == DType::c64 ? DType::f32 : t == DType::c128 ? DType::f64 : t; }
int64_t parts_of(DType t) { return is_complex(t) ? 2 : 1; }
bool is_small_float(DType t) { return is_float(t) && bits(t) < 32; }

void append_element(std::string& out, const Tensor& t, int64_t i, ElementStyle style) {
  const DType part = part_type(t.dtype());
  const int width = bits(part);
  const uint64_t code = bits_at(t, width, i);
  if (part == DType::f32) return append_float<float>(out, code, style);
  if (part == DType::f64) return append_float<double>(out, code, style);
  if (is_small_float(part)) {
    const float v = decode_float(part, static_cast<uint32_t>(code));
    if (style == ElementStyle::codes || std::isnan(v) || small_code(part, static_cast<double>(v)) != code)
      return void(out += cat(code));
    const size_t from = out.size();
    append_shortest(out, v);
    if (out.find_first_of(".ein", from) == std::string::npos) out += ".0";
    return;
  }
  if (is_signed_int(part) && (code >> (width - 1) & 1) != 0) {
    const uint64_t extended = width < 64 ? code | ~((uint64_t{1} << width) - 1) : code;
    return void(out += cat(static_cast<int64_t>(extended)));
  }
  out += cat(code);
}

std::optional<uint64_t> parse_element(DType part, std::string_view text) {
  const int width = bits(part);
  if (part == DType::f32) return parse_ieee<float>(text);
  if (part == DType::f64) return parse_ieee<double>(text);
  if (is_small_float(part)) {
    if (const auto code = parse_unsigned(text, width)) return code;
    const auto v = parse_double(text);
    if (!v || text.find_first_of(".ein") == std::string_view::npos) return std::nullopt;
    return small_code(part, *v);
  }
  return is_signed_int(part) ? parse_signed(text, width) : parse_unsigned(text, width);
}

}  // namespace cameo::ir
