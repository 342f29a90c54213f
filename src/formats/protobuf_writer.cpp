#include "formats/protobuf.h"

#include <algorithm>
#include <cstring>

#include "support/endian.h"
#include "support/error.h"

namespace cameo::pb {

uint32_t varint_size(uint64_t v) {
  uint32_t n = 1;
  while (v >>= 7) ++n;
  return n;
}

uint64_t field_size(uint32_t field, uint64_t length) {
  return varint_size(uint64_t{field} << 3) + varint_size(length) + length;
}

namespace {
// The first byte after the varint.
char* put_varint(char* at, uint64_t v) {
  for (; v >= 0x80; v >>= 7) *at++ = static_cast<char>(v | 0x80);
  *at++ = static_cast<char>(v);
  return at;
}
constexpr size_t longest_varint = 10;

char* put_header(char* at, uint32_t field, uint64_t length) {
  return put_varint(put_varint(at, uint64_t{field} << 3 | static_cast<uint64_t>(Wire::bytes)), length);
}
}  // namespace

bool is_header(std::string_view bytes, uint32_t field, uint64_t length) {
  char header[2 * longest_varint];
  return bytes == std::string_view(header, static_cast<size_t>(put_header(header, field, length) - header));
}

void Writer::grow(size_t most) {
  const size_t wanted = std::max(used_ + most, used_ + used_ / 2 + 64);
  out_.resize(std::max(wanted, std::min(out_.capacity(), 4 * wanted)));
}

void Writer::append_varint(uint64_t v) {
  char* at = room(longest_varint);
  used_ += static_cast<size_t>(put_varint(at, v) - at);
}

void Writer::tag(uint32_t field, Wire wire) { append_varint(uint64_t{field} << 3 | static_cast<uint64_t>(wire)); }

void Writer::varint(uint32_t field, uint64_t v) {
  char* at = room(2 * longest_varint);
  used_ += static_cast<size_t>(
      put_varint(put_varint(at, uint64_t{field} << 3 | static_cast<uint64_t>(Wire::varint)), v) - at);
}

void Writer::float32(uint32_t field, float v) {
  tag(field, Wire::fixed32);
  append_fixed(bit_cast<uint32_t>(v));
}

void Writer::float64(uint32_t field, double v) {
  tag(field, Wire::fixed64);
  append_fixed(bit_cast<uint64_t>(v));
}

template <class T>
void Writer::append_fixed(T v) {
  char* at = room(sizeof v);
  for (size_t i = 0; i < sizeof v; ++i) at[i] = static_cast<char>(v >> (8 * i) & 0xff);
  used_ += sizeof v;
}

void Writer::header(uint32_t field, uint64_t length) {
  char* at = room(2 * longest_varint);
  used_ += static_cast<size_t>(put_header(at, field, length) - at);
}

void Writer::raw(std::string_view v) {
  if (v.empty()) return;
  std::memcpy(room(v.size()), v.data(), v.size());
  used_ += v.size();
}

void Writer::bytes(uint32_t field, std::string_view v) {
  header(field, v.size());
  raw(v);
}

template <class T>
void Writer::packed_varints(uint32_t field, const std::vector<T>& v) {
  uint64_t length = 0;
  for (const T x : v) length += varint_size(static_cast<uint64_t>(x));
  header(field, length);
  for (const T x : v) append_varint(static_cast<uint64_t>(x));
}

void Writer::packed(uint32_t field, const std::vector<int64_t>& v) { packed_varints(field, v); }
void Writer::packed(uint32_t field, const std::vector<int32_t>& v) { packed_varints(field, v); }
void Writer::packed(uint32_t field, const std::vector<uint64_t>& v) { packed_varints(field, v); }

void Writer::packed(uint32_t field, const std::vector<float>& v) {
  header(field, v.size() * sizeof(float));
  for (const float x : v) append_fixed(bit_cast<uint32_t>(x));
}

void Writer::packed(uint32_t field, const std::vector<double>& v) {
  header(field, v.size() * sizeof(double));
  for (const double x : v) append_fixed(bit_cast<uint64_t>(x));
}

size_t Writer::begin(uint32_t field) {
  header(field, 0);  // room for a length of one byte
  return used_;
}

void Writer::end(size_t mark) {
  invariant(mark > 0 && mark <= used_, "a message ends after it begins");
  char length[longest_varint];
  const auto n = static_cast<size_t>(put_varint(length, used_ - mark) - length);
  out_[mark - 1] = length[0];
  if (n == 1) return;
  room(n - 1);
  char* body = out_.data() + mark;
  std::memmove(body + n - 1, body, used_ - mark);
  std::memcpy(body, length + 1, n - 1);
  used_ += n - 1;
}

}  // namespace cameo::pb
