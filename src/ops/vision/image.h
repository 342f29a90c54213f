// Encoded images, as ImageDecoder reads them. Every decoder gives nothing for what is broken or beyond it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "support/layers.h"

namespace cameo::ops {

struct Image {
  int64_t height = 0, width = 0;
  std::vector<uint8_t> rgb;  // interleaved
};

// Whether an image of these sizes may be held in memory, and can come from so many bytes: no format packs them tighter.
bool is_sane_image(int64_t height, int64_t width, size_t bytes);

std::optional<Image> decode_bmp(std::string_view s);   // uncompressed: 256 colours, 24 or 32 bits
std::optional<Image> decode_pnm(std::string_view s);   // P1 to P6
std::optional<Image> decode_png(std::string_view s);   // all but interlaced ones
std::optional<Image> decode_tiff(std::string_view s);  // uncompressed strips of 8-bit greys or colours

// Of any format that is decoded here, or by a library; throws eval.codec-library where that is not installed.
std::optional<Image> decode_image(std::string_view s);

// Formats that a library decodes, looked for when the first such image comes.
struct LibraryCodec {
  std::string_view format, library, package;                        // the package is Debian's
  std::optional<Image> (*decode)(std::string_view s, bool& there);  // there: whether the library is installed
};
std::span<const LibraryCodec> library_codecs();

}  // namespace cameo::ops
