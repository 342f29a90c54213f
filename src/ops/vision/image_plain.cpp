#include <algorithm>

#include "ops/vision/image.h"

namespace cameo::ops {

namespace {

constexpr int64_t largest_side = 1 << 16, largest_area = int64_t{1} << 28;

// Little-endian fields; reading past the end gives nothing.
class Fields {
 public:
  explicit Fields(std::string_view s) : s_(s) {}
  std::optional<uint32_t> at(size_t offset, size_t bytes) const {
    if (offset > s_.size() || bytes > s_.size() - offset) return std::nullopt;
    uint32_t v = 0;
    for (size_t i = bytes; i-- > 0;) v = v << 8 | static_cast<uint8_t>(s_[offset + i]);
    return v;
  }

 private:
  std::string_view s_;
};

// Numbers of a PNM header, comments skipped.
std::optional<int64_t> number(std::string_view s, size_t& at) {
  while (at < s.size() && (s[at] == ' ' || s[at] == '\t' || s[at] == '\n' || s[at] == '\r' || s[at] == '#'))
    if (s[at] == '#') at = std::min(s.find('\n', at), s.size());
    else ++at;
  int64_t v = 0;
  const size_t start = at;
  for (; at < s.size() && s[at] >= '0' && s[at] <= '9'; ++at)
    if ((v = v * 10 + (s[at] - '0')) > largest_area) return std::nullopt;
  return at > start ? std::optional(v) : std::nullopt;
}

}  // namespace

bool is_sane_image(int64_t height, int64_t width, size_t bytes) {
  constexpr uint64_t pixels_per_byte = 16384, small = 1 << 20;
  if (height < 1 || width < 1 || height > largest_side || width > largest_side || height * width > largest_area)
    return false;
  const auto area = static_cast<uint64_t>(height * width);
  return area <= small || area / pixels_per_byte <= bytes;
}

std::optional<Image> decode_bmp(std::string_view s) {
  const Fields f(s);
  const auto data = f.at(10, 4), header = f.at(14, 4), w = f.at(18, 4), h = f.at(22, 4), depth = f.at(28, 2),
             packing = f.at(30, 4), used = f.at(46, 4);
  if (!used || *header < 40 || (*packing != 0 && !(*packing == 3 && *depth == 32))) return std::nullopt;
  const auto rows = static_cast<int32_t>(*h);
  Image image{rows < 0 ? -int64_t{rows} : rows, static_cast<int32_t>(*w), {}};
  if (!is_sane_image(image.height, image.width, s.size()) || (*depth != 8 && *depth != 24 && *depth != 32))
    return std::nullopt;
  const int64_t pixel = *depth / 8, stride = (image.width * pixel + 3) / 4 * 4;
  if (*data > s.size() || static_cast<int64_t>(s.size() - *data) < stride * image.height) return std::nullopt;
  image.rgb.resize(static_cast<size_t>(image.height * image.width * 3));
  for (int64_t y = 0; y < image.height; ++y) {
    const size_t row = *data + static_cast<size_t>((rows < 0 ? y : image.height - 1 - y) * stride);
    for (int64_t x = 0; x < image.width; ++x) {
      size_t from = row + static_cast<size_t>(x * pixel);
      if (pixel == 1) from = 14 + size_t{*header} + 4 * static_cast<uint8_t>(s[from]);
      if (from + 3 > s.size()) return std::nullopt;
      for (size_t c = 0; c < 3; ++c)
        image.rgb[static_cast<size_t>((y * image.width + x) * 3) + c] = static_cast<uint8_t>(s[from + 2 - c]);
    }
  }
  return image;
}

std::optional<Image> decode_pnm(std::string_view s) {
  const char kind = s[1];
  size_t at = 2;
  const auto w = number(s, at), h = number(s, at);
  const bool bits = kind == '1' || kind == '4', colour = kind == '3' || kind == '6', text = kind <= '3';
  const auto top = bits ? std::optional<int64_t>(1) : number(s, at);
  if (!w || !h || !top || *top < 1 || *top > 65535 || !is_sane_image(*h, *w, s.size())) return std::nullopt;
  ++at;  // one white space before the bytes
  Image image{*h, *w, std::vector<uint8_t>(static_cast<size_t>(*h * *w * 3))};
  const size_t bytes = *top > 255 ? 2 : 1;
  for (int64_t i = 0; i < *h * *w; ++i) {
    int64_t v[3];
    for (int c = 0; c < (colour ? 3 : 1); ++c) {
      if (kind == '4') {
        const size_t byte = at + static_cast<size_t>(i / *w * ((*w + 7) / 8) + i % *w / 8);
        if (byte >= s.size()) return std::nullopt;
        v[0] = static_cast<uint8_t>(s[byte]) >> (7 - i % *w % 8) & 1;
      } else if (text) {
        const auto n = number(s, at);
        if (!n) return std::nullopt;
        v[c] = *n;
      } else {
        if (at + bytes > s.size()) return std::nullopt;
        v[c] = static_cast<uint8_t>(s[at]);
        if (bytes == 2) v[c] = v[c] << 8 | static_cast<uint8_t>(s[at + 1]);
        at += bytes;
      }
      if (bits) v[c] = v[c] ? 0 : 1;  // 1 is black
    }
    for (size_t c = 0; c < 3; ++c)
      image.rgb[static_cast<size_t>(i) * 3 + c] = static_cast<uint8_t>(std::min(v[colour ? c : 0], *top) * 255 / *top);
  }
  return image;
}

}  // namespace cameo::ops
