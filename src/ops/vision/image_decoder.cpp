// Decodes what needs no codec library: bitmaps and portable any-maps. Other formats are recognised and named.
#include <algorithm>
#include <optional>
#include <string_view>

#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/op_def.h"

namespace cameo {

namespace {

struct Image {
  int64_t height = 0, width = 0;
  std::vector<uint8_t> rgb;  // interleaved
};

constexpr int64_t largest_side = 1 << 16, largest_area = int64_t{1} << 28;

std::string_view codec_of(std::string_view s) {
  const auto starts = [&](std::string_view magic, size_t at = 0) { return s.size() >= at + magic.size() && s.substr(at, magic.size()) == magic; };
  if (starts("\xff\xd8\xff")) return "JPEG";
  if (starts("\x89PNG")) return "PNG";
  if (starts("II*") || starts("MM")) return "TIFF";
  if (starts("RIFF") && starts("WEBP", 8)) return "WebP";
  if (starts("jP  ", 4) || starts("\xff\x4f\xff\x51")) return "JPEG 2000";
  if (starts("GIF8")) return "GIF";
  return "";
}

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

bool sane(int64_t height, int64_t width) { return height > 0 && width > 0 && height <= largest_side && width <= largest_side && height * width <= largest_area; }

// Uncompressed BMP with a palette of 256 colours, 24 or 32 bits.
std::optional<Image> decode_bmp(std::string_view s) {
  const Fields f(s);
  const auto data = f.at(10, 4), header = f.at(14, 4), w = f.at(18, 4), h = f.at(22, 4), depth = f.at(28, 2), packing = f.at(30, 4), used = f.at(46, 4);
  if (!used || *header < 40 || (*packing != 0 && !(*packing == 3 && *depth == 32))) return std::nullopt;
  const auto rows = static_cast<int32_t>(*h);
  Image image{rows < 0 ? -int64_t{rows} : rows, static_cast<int32_t>(*w), {}};
  if (!sane(image.height, image.width) || (*depth != 8 && *depth != 24 && *depth != 32)) return std::nullopt;
  const int64_t pixel = *depth / 8, stride = (image.width * pixel + 3) / 4 * 4;
  if (*data > s.size() || static_cast<int64_t>(s.size() - *data) < stride * image.height) return std::nullopt;
  image.rgb.resize(static_cast<size_t>(image.height * image.width * 3));
  for (int64_t y = 0; y < image.height; ++y) {
    const size_t row = *data + static_cast<size_t>((rows < 0 ? y : image.height - 1 - y) * stride);
    for (int64_t x = 0; x < image.width; ++x) {
      size_t from = row + static_cast<size_t>(x * pixel);
      if (pixel == 1) from = 14 + size_t{*header} + 4 * static_cast<uint8_t>(s[from]);
      if (from + 3 > s.size()) return std::nullopt;
      for (size_t c = 0; c < 3; ++c) image.rgb[static_cast<size_t>((y * image.width + x) * 3) + c] = static_cast<uint8_t>(s[from + 2 - c]);
    }
  }
  return image;
}

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

// P1 to P6: bits, greys and colours, as text or bytes.
std::optional<Image> decode_pnm(std::string_view s) {
  const char kind = s[1];
  size_t at = 2;
  const auto w = number(s, at), h = number(s, at);
  const bool bits = kind == '1' || kind == '4', colour = kind == '3' || kind == '6', text = kind <= '3';
  const auto top = bits ? std::optional<int64_t>(1) : number(s, at);
  if (!w || !h || !top || *top < 1 || *top > 65535 || !sane(*h, *w)) return std::nullopt;
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
    for (size_t c = 0; c < 3; ++c) image.rgb[static_cast<size_t>(i) * 3 + c] = static_cast<uint8_t>(std::min(v[colour ? c : 0], *top) * 255 / *top);
  }
  return image;
}

std::optional<Image> decode(std::string_view s) {
  if (s.size() > 2 && s.substr(0, 2) == "BM") return decode_bmp(s);
  if (s.size() > 2 && s[0] == 'P' && s[1] >= '1' && s[1] <= '6') return decode_pnm(s);
  return std::nullopt;
}

struct ImageDecoder : Rules<op::ImageDecoder> {
  static void infer(const op::ImageDecoder& a, Infer& c) {
    if (c.rank(0) != 1) c.fail("infer.rank", cat("the stream has rank ", c.rank(0), ": 1 is wanted"));
    if (a.pixel_format != "RGB" && a.pixel_format != "BGR" && a.pixel_format != "Grayscale") c.fail("infer.attribute", cat("pixel_format '", a.pixel_format, "' is none of RGB, BGR, Grayscale"));
    c.out(0, {c.fresh("height"), c.fresh("width"), a.pixel_format == "Grayscale" ? 1 : 3});
  }

  static void eval(const op::ImageDecoder& a, Eval& k) {
    const std::string_view s = k.in(0).bytes().text();
    if (const auto codec = codec_of(s); !codec.empty())
      throw error("eval.codec", cat("the image is ", codec, ", for which there is no decoder here")).help("BMP and PNM images are decoded; convert the image, or decode it before the model");
    const bool grey = a.pixel_format == "Grayscale";
    const auto image = decode(s);
    if (!image) return k.out(0, zeros(DType::u8, {0, 0, grey ? 1 : 3}));  // as the operator wants for what it cannot read
    std::vector<uint8_t> out;
    for (size_t i = 0; i < image->rgb.size(); i += 3) {
      const uint8_t r = image->rgb[i], g = image->rgb[i + 1], b = image->rgb[i + 2];
      if (grey) out.push_back(static_cast<uint8_t>((r * 19595 + g * 38470 + b * 7471 + 0x8000) >> 16));
      else if (a.pixel_format == "BGR") out.insert(out.end(), {b, g, r});
      else out.insert(out.end(), {r, g, b});
    }
    k.out(0, Tensor::of<uint8_t>(DType::u8, {image->height, image->width, grey ? 1 : 3}, out));
  }
};

constexpr OpRules table[] = {rules<ImageDecoder>()};

}  // namespace

std::span<const OpRules> image_decoder_rules() { return table; }

}  // namespace cameo
