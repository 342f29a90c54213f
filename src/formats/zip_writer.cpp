#include <algorithm>

#include "formats/deflate.h"
#include "formats/zip_directory.h"
#include "support/endian.h"
#include "support/error.h"
#include "support/text.h"

namespace cameo::zip {
namespace {
constexpr uint16_t version_plain = 20, version_zip64 = 45;
constexpr uint16_t first_day = 1 << 5 | 1;  // 1980-01-01: the earliest date there is, for bytes that never change
constexpr uint16_t padding_extra = 0x4246;  // "FB", as PyTorch's writer calls it

bool is_large(const Entry& e) { return e.size >= saturated32; }
uint32_t clamp32(uint64_t v) { return v >= saturated32 ? saturated32 : static_cast<uint32_t>(v); }

// What the local header and the directory have in common, from the version to the extra length.
void append_common(std::string& out, const Entry& e, uint16_t version, uint32_t size, size_t extra_length) {
  append_le<uint16_t>(out, version);
  append_le<uint16_t>(out, support::is_utf8(e.name) ? utf8_flag : 0);  // without it a name is bytes
  append_le<uint16_t>(out, static_cast<uint16_t>(e.method));
  append_le<uint16_t>(out, 0);
  append_le<uint16_t>(out, first_day);
  append_le<uint32_t>(out, e.crc);
  append_le<uint32_t>(out, size);
  append_le<uint32_t>(out, size);
  append_le<uint16_t>(out, static_cast<uint16_t>(e.name.size()));
  append_le<uint16_t>(out, narrow<uint16_t>(extra_length));
}

std::string zip64_sizes(const Entry& e) {
  std::string extra;
  append_le<uint16_t>(extra, zip64_extra);
  append_le<uint16_t>(extra, 16);
  append_le<uint64_t>(extra, e.size);
  append_le<uint64_t>(extra, e.size);
  return extra;
}

void append_padding(std::string& extra, uint64_t data_offset, uint32_t alignment) {
  if (alignment == 0 || data_offset % alignment == 0) return;
  uint64_t need = alignment - data_offset % alignment;
  while (need < 4) need += alignment;  // a field has a head of four bytes
  append_le<uint16_t>(extra, padding_extra);
  append_le<uint16_t>(extra, static_cast<uint16_t>(need - 4));
  extra.append(static_cast<size_t>(need - 4), 'Z');
}

std::string local_header(const Entry& e, uint32_t alignment) {
  std::string extra = is_large(e) ? zip64_sizes(e) : "";
  append_padding(extra, e.header_offset + 30 + e.name.size() + extra.size(), alignment);
  std::string out;
  append_le<uint32_t>(out, local_signature);
  append_common(out, e, is_large(e) ? version_zip64 : version_plain, clamp32(e.size), extra.size());
  return out + e.name + extra;
}

std::string central_header(const Entry& e) {
  const bool far = e.header_offset >= saturated32;
  std::string extra;
  if (is_large(e) || far) {
    append_le<uint16_t>(extra, zip64_extra);
    append_le<uint16_t>(extra, static_cast<uint16_t>((is_large(e) ? 16 : 0) + (far ? 8 : 0)));
    if (is_large(e)) append_le<uint64_t>(extra, e.size), append_le<uint64_t>(extra, e.size);
    if (far) append_le<uint64_t>(extra, e.header_offset);
  }
  std::string out;
  append_le<uint32_t>(out, central_signature);
  append_le<uint16_t>(out, version_zip64);
  append_common(out, e, extra.empty() ? version_plain : version_zip64, clamp32(e.size), extra.size());
  out.append(10, '\0');  // no comment, first disk, no attributes
  append_le<uint32_t>(out, clamp32(e.header_offset));
  return out + e.name + extra;
}

std::string end_records(uint64_t count, uint64_t offset, uint64_t size) {
  std::string out;
  if (count >= saturated16 || offset >= saturated32 || size >= saturated32) {
    append_le<uint32_t>(out, end64_signature);
    append_le<uint64_t>(out, 44);  // what follows in this record
    append_le<uint16_t>(out, version_zip64);
    append_le<uint16_t>(out, version_zip64);
    append_le<uint64_t>(out, 0);
    for (const uint64_t v : {count, count, size, offset}) append_le<uint64_t>(out, v);
    append_le<uint32_t>(out, locator64_signature);
    append_le<uint32_t>(out, 0);
    append_le<uint64_t>(out, offset + size);
    append_le<uint32_t>(out, 1);
  }
  append_le<uint32_t>(out, end_signature);
  append_le<uint32_t>(out, 0);
  const auto count16 = static_cast<uint16_t>(std::min<uint64_t>(count, saturated16));
  append_le<uint16_t>(out, count16);
  append_le<uint16_t>(out, count16);
  append_le<uint32_t>(out, clamp32(size));
  append_le<uint32_t>(out, clamp32(offset));
  append_le<uint16_t>(out, 0);
  return out;
}
}  // namespace

Writer::Writer(Sink out, uint32_t alignment) : out_(std::move(out)), alignment_(alignment) {
  invariant(alignment <= 4096 && (alignment & (alignment - 1)) == 0, "an alignment is a power of two up to 4096");
}

void Writer::put(std::string_view bytes) {
  out_(as_bytes(bytes));
  position_ += bytes.size();
}

void Writer::add(std::string_view name, std::span<const std::span<const std::byte>> parts) {
  if (name.size() >= saturated16)
    throw error("write.name-too-long", cat("an archive entry's name has ", name.size(), " bytes"));
  Entry& e = entries_.emplace_back();
  e.name = name;
  e.header_offset = position_;
  for (const auto part : parts) {
    e.size += part.size();
    e.crc = crc32_of(part, e.crc);
  }
  put(local_header(e, alignment_));
  for (const auto part : parts) out_(part);
  position_ += e.size;
}

void Writer::add(std::string_view name, std::string_view data) {
  const std::span<const std::byte> parts[] = {as_bytes(data)};
  add(name, parts);
}

void Writer::finish() {
  const uint64_t offset = position_;
  for (const Entry& e : entries_) put(central_header(e));
  put(end_records(entries_.size(), offset, position_ - offset));
}

}  // namespace cameo::zip
