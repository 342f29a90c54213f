#include <array>
#include <cstdlib>

#include "formats/deflate.h"
#include "ops/vision/image.h"

namespace cameo::ops {

namespace {

uint32_t big_endian(std::string_view s, size_t at) {
  uint32_t v = 0;
  for (size_t i = 0; i < 4; ++i) v = v << 8 | static_cast<uint8_t>(s[at + i]);
  return v;
}

struct Header {
  int64_t width = 0, height = 0;
  int depth = 0, colour = 0;  // colour: 0 grey, 2 rgb, 3 palette, 4 grey and alpha, 6 rgb and alpha

  int channels() const { return colour == 2 ? 3 : colour == 4 ? 2 : colour == 6 ? 4 : 1; }
  size_t row_bytes() const { return static_cast<size_t>((width * channels() * depth + 7) / 8); }
  bool valid() const {
    const bool small = depth == 1 || depth == 2 || depth == 4;
    const bool fits = depth == 8 || (depth == 16 && colour != 3) || (small && (colour == 0 || colour == 3));
    return fits && (colour == 0 || colour == 2 || colour == 3 || colour == 4 || colour == 6);
  }
};

struct Parts {
  Header header;
  std::string_view palette;
  std::vector<std::byte> packed;
};

std::optional<Parts> read_chunks(std::string_view s) {
  Parts p;
  for (size_t at = 8; at + 12 <= s.size();) {
    const uint32_t length = big_endian(s, at);
    const std::string_view kind = s.substr(at + 4, 4);
    if (length > s.size() - at - 12) return std::nullopt;
    const std::string_view body = s.substr(at + 8, length);
    if (kind == "IHDR" && length == 13) {
      p.header = {big_endian(body, 0), big_endian(body, 4), static_cast<uint8_t>(body[8]),
                  static_cast<uint8_t>(body[9])};
      if (body[10] != 0 || body[11] != 0 || body[12] != 0) return std::nullopt;  // compression, filters, interlacing
    } else if (kind == "PLTE") p.palette = body;
    else if (kind == "IDAT") {
      const auto* data = reinterpret_cast<const std::byte*>(body.data());
      p.packed.insert(p.packed.end(), data, data + body.size());
    } else if (kind == "IEND") break;
    at += 12 + size_t{length};
  }
  // Two bytes of zlib's header, four of its checksum.
  if (!p.header.valid() || p.packed.size() < 6 || !is_sane_image(p.header.height, p.header.width, s.size()))
    return std::nullopt;
  return p;
}

uint8_t paeth(int left, int up, int corner) {
  const int guess = left + up - corner;
  const int dl = std::abs(guess - left), du = std::abs(guess - up), dc = std::abs(guess - corner);
  return static_cast<uint8_t>(dl <= du && dl <= dc ? left : du <= dc ? up : corner);
}

// Undoes the filter of one row in place; `step` bytes make a pixel.
bool unfilter(uint8_t filter, uint8_t* row, const uint8_t* above, size_t bytes, size_t step) {
  for (size_t i = 0; i < bytes; ++i) {
    const int left = i >= step ? row[i - step] : 0, up = above ? above[i] : 0;
    const int corner = above && i >= step ? above[i - step] : 0;
    switch (filter) {
      case 0: return true;
      case 1: row[i] = static_cast<uint8_t>(row[i] + left); break;
      case 2: row[i] = static_cast<uint8_t>(row[i] + up); break;
      case 3: row[i] = static_cast<uint8_t>(row[i] + (left + up) / 2); break;
      case 4: row[i] = static_cast<uint8_t>(row[i] + paeth(left, up, corner)); break;
      default: return false;
    }
  }
  return true;
}

// The colour of pixel `x` of a row.
std::optional<std::array<uint8_t, 3>> pixel(const Parts& p, const uint8_t* row, size_t x) {
  const auto depth = static_cast<size_t>(p.header.depth), channels = static_cast<size_t>(p.header.channels());
  const auto sample = [&](size_t c) -> uint8_t {
    if (depth == 8) return row[x * channels + c];
    if (depth == 16) return row[(x * channels + c) * 2];
    return static_cast<uint8_t>(row[x * depth / 8] >> (8 - depth - x * depth % 8) & ((1 << depth) - 1));
  };
  if (p.header.colour == 3) {
    const size_t at = size_t{sample(0)} * 3;
    if (at + 3 > p.palette.size()) return std::nullopt;
    const auto entry = [&](size_t i) { return static_cast<uint8_t>(p.palette[at + i]); };
    return std::array<uint8_t, 3>{entry(0), entry(1), entry(2)};
  }
  if (channels >= 3) return std::array<uint8_t, 3>{sample(0), sample(1), sample(2)};
  const auto grey = static_cast<uint8_t>(depth < 8 ? sample(0) * 255 / ((1 << depth) - 1) : sample(0));
  return std::array<uint8_t, 3>{grey, grey, grey};
}

}  // namespace

std::optional<Image> decode_png(std::string_view s) {
  const auto parts = read_chunks(s);
  if (!parts) return std::nullopt;
  const Header& h = parts->header;
  const size_t bytes = h.row_bytes(), line = bytes + 1;  // every row has its filter in front
  const size_t step = static_cast<size_t>(h.channels() * h.depth + 7) / 8;
  std::vector<std::byte> raw(line * static_cast<size_t>(h.height));
  const std::span<const std::byte> packed(parts->packed);
  if (!inflate_into(packed.subspan(2, packed.size() - 6), raw)) return std::nullopt;
  Image image{h.height, h.width, {}};
  image.rgb.reserve(static_cast<size_t>(h.height * h.width * 3));
  uint8_t* rows = reinterpret_cast<uint8_t*>(raw.data());
  for (size_t y = 0; y < static_cast<size_t>(h.height); ++y) {
    uint8_t* row = rows + y * line + 1;
    if (!unfilter(row[-1], row, y ? row - line : nullptr, bytes, step)) return std::nullopt;
    for (size_t x = 0; x < static_cast<size_t>(h.width); ++x) {
      const auto colour = pixel(*parts, row, x);
      if (!colour) return std::nullopt;
      image.rgb.insert(image.rgb.end(), colour->begin(), colour->end());
    }
  }
  return image;
}

}  // namespace cameo::ops
