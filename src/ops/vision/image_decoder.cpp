// Small formats are decoded here, JPEG and its like by libraries where they are installed; the rest is recognised and
// named.
#include <optional>
#include <string_view>

#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/op_def.h"
#include "ops/vision/image.h"

namespace cameo::ops {

namespace {

std::string_view codec_of(std::string_view s) {
  const auto starts = [&](std::string_view magic, size_t at = 0) {
    return s.size() >= at + magic.size() && s.substr(at, magic.size()) == magic;
  };
  if (starts("\xff\xd8\xff")) return "JPEG";
  if (starts("\x89PNG")) return "PNG";
  if (starts("II*") || starts("MM")) return "TIFF";
  if (starts("RIFF") && starts("WEBP", 8)) return "WebP";
  if (starts("jP  ", 4) || starts("\xff\x4f\xff\x51")) return "JPEG 2000";
  if (starts("GIF8")) return "GIF";
  return "";
}

}  // namespace

std::optional<Image> decode_image(std::string_view encoded) {
  const std::string s(encoded);  // decoders read a header twice, and the file may change meanwhile
  if (s.size() > 2 && s.substr(0, 2) == "BM") return decode_bmp(s);
  if (s.size() > 2 && s[0] == 'P' && s[1] >= '1' && s[1] <= '6') return decode_pnm(s);
  if (codec_of(s) == "PNG") return decode_png(s);
  if (codec_of(s) == "TIFF") return decode_tiff(s);
  for (const LibraryCodec& c : library_codecs()) {
    if (c.format != codec_of(s)) continue;
    bool there = false;
    const auto image = c.decode(s, there);
    if (!there)
      throw error("eval.codec-library",
                  cat("the image is ", c.format, ", and ", c.library, ", which decodes it, is not installed"))
          .help(cat("install it (Debian: apt install ", c.package,
                    "), convert the image, or decode it before the model"));
    return image;
  }
  return std::nullopt;
}

namespace {

struct ImageDecoder : Rules<op::ImageDecoder> {
  static void infer(const op::ImageDecoder& a, Infer& c) {
    if (c.rank(0) != 1) c.fail("infer.rank", cat("the stream has rank ", c.rank(0), ": 1 is wanted"));
    if (a.pixel_format != "RGB" && a.pixel_format != "BGR" && a.pixel_format != "Grayscale")
      c.fail("infer.attribute", cat("pixel_format '", a.pixel_format, "' is not one of RGB, BGR, Grayscale"));
    c.out(0, {c.fresh("height"), c.fresh("width"), a.pixel_format == "Grayscale" ? 1 : 3});
  }

  static void eval(const op::ImageDecoder& a, Eval& k) {
    if (k.in(0).dtype() != DType::u8) k.fail("eval.type", "an image is read from bytes");
    const std::string_view s = k.in(0).bytes().text();
    const bool grey = a.pixel_format == "Grayscale";
    const auto image = decode_image(s);
    if (const auto codec = codec_of(s); !image && !codec.empty())
      throw error("eval.codec", cat("the image is ", codec, " of a kind that is not decoded here"))
          .help(
              "JPEG, WebP, JPEG 2000, BMP, PNM, PNG without interlacing and uncompressed TIFF are; convert the image, "
              "or "
              "decode it before the model");
    // The operator's result for an image that cannot be read.
    if (!image) return k.out(0, zeros(DType::u8, {0, 0, grey ? 1 : 3}));
    std::vector<uint8_t> out;
    out.reserve(image->rgb.size() / (grey ? 3 : 1));
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

}  // namespace cameo::ops
