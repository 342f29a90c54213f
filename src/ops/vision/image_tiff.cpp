#include <algorithm>

#include "ops/vision/image.h"

namespace cameo::ops {

namespace {

// Numbers in the file's byte order; what lies outside reads as nothing.
class TiffFields {
 public:
  TiffFields(std::string_view s, bool big) : s_(s), big_(big) {}

  std::optional<uint32_t> at(uint64_t offset, size_t bytes) const {
    if (offset > s_.size() || bytes > s_.size() - offset) return std::nullopt;
    uint32_t v = 0;
    for (size_t i = 0; i < bytes; ++i) v = v << 8 | static_cast<uint8_t>(s_[offset + (big_ ? i : bytes - 1 - i)]);
    return v;
  }

  // Elements of the entry with this tag in the first directory: 16- and 32-bit integers.
  std::optional<std::vector<uint32_t>> values(uint32_t tag) const {
    const auto directory = at(4, 4);
    const auto count = directory ? at(*directory, 2) : std::nullopt;
    for (uint64_t i = 0; count && i < *count; ++i) {
      const uint64_t entry = uint64_t{*directory} + 2 + i * 12;
      const auto id = at(entry, 2), kind = at(entry + 2, 2), n = at(entry + 4, 4);
      if (!n) return std::nullopt;
      if (*id != tag) continue;
      const size_t size = *kind == 3 ? 2 : *kind == 4 ? 4 : 0;
      if (size == 0 || *n > s_.size() / size) return std::nullopt;
      const auto first = *n * size <= 4 ? std::optional(static_cast<uint32_t>(entry + 8)) : at(entry + 8, 4);
      std::vector<uint32_t> out;
      for (uint64_t k = 0; first && k < *n; ++k) {
        const auto v = at(uint64_t{*first} + k * size, size);
        if (!v) return std::nullopt;
        out.push_back(*v);
      }
      return out;
    }
    return std::nullopt;
  }
  uint32_t one(uint32_t tag, uint32_t fallback) const {
    const auto v = values(tag);
    return v && !v->empty() ? (*v)[0] : fallback;
  }

 private:
  std::string_view s_;
  bool big_;
};

enum Tag : uint32_t {
  width_tag = 256,
  height_tag = 257,
  depth_tag = 258,
  packing_tag = 259,
  meaning_tag = 262,
  strips_tag = 273,
  samples_tag = 277,
  strip_rows_tag = 278,
  planes_tag = 284,
};

}  // namespace

std::optional<Image> decode_tiff(std::string_view s) {
  const TiffFields f(s, s.substr(0, 1) == "M");
  const int64_t width = f.one(width_tag, 0), height = f.one(height_tag, 0), samples = f.one(samples_tag, 1);
  const uint32_t meaning = f.one(meaning_tag, 0);  // 0: white is zero, 1: black is zero, 2: rgb
  const auto strips = f.values(strips_tag);
  if (!is_sane_image(height, width, s.size()) || !strips || f.one(depth_tag, 1) != 8 || f.one(packing_tag, 1) != 1)
    return std::nullopt;
  if (f.one(planes_tag, 1) != 1 || meaning > 2 || samples > 8 || samples < (meaning == 2 ? 3 : 1)) return std::nullopt;
  const int64_t strip_rows = std::min<int64_t>(f.one(strip_rows_tag, static_cast<uint32_t>(height)), height);
  if (strip_rows < 1 || static_cast<int64_t>(strips->size()) < (height + strip_rows - 1) / strip_rows)
    return std::nullopt;
  Image image{height, width, {}};
  for (int64_t y = 0; y < height; ++y) {
    const uint64_t row =
        (*strips)[static_cast<size_t>(y / strip_rows)] + static_cast<uint64_t>(y % strip_rows * width * samples);
    if (row > s.size() || static_cast<uint64_t>(width * samples) > s.size() - row) return std::nullopt;
    for (int64_t x = 0; x < width; ++x)
      for (int64_t c = 0; c < 3; ++c) {
        const auto v = static_cast<uint8_t>(s[row + static_cast<uint64_t>(x * samples + (meaning == 2 ? c : 0))]);
        image.rgb.push_back(meaning == 0 ? static_cast<uint8_t>(255 - v) : v);
      }
  }
  return image;
}

}  // namespace cameo::ops
