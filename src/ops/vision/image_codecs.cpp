// JPEG, WebP and JPEG 2000 through the usual libraries, loaded when an image asks for one.
#include <algorithm>
#include <array>
#include <climits>
#include <cstring>
#include <memory>

#include "ops/vision/image.h"
#include "support/shared_library.h"

namespace cameo::ops {

namespace {

const uint8_t* bytes_of(std::string_view s) { return reinterpret_cast<const uint8_t*>(s.data()); }

std::optional<Image> blank(int64_t height, int64_t width, size_t bytes) {
  if (!is_sane_image(height, width, bytes)) return std::nullopt;
  Image out{height, width, {}};
  out.rgb.resize(static_cast<size_t>(height * width * 3));
  return out;
}

// The part of libturbojpeg that we call; numbers as in its turbojpeg.h.
struct TurboJpeg {
  void* (*open)() = nullptr;
  int (*header)(void*, const uint8_t*, unsigned long, int* width, int* height, int* subsampling,
                int* colours) = nullptr;
  int (*decode)(void*, const uint8_t*, unsigned long, uint8_t* to, int width, int pitch, int height, int format,
                int flags) = nullptr;
  int (*close)(void*) = nullptr;
  bool there = false;

  TurboJpeg() {
    const SharedLibrary l("libturbojpeg.so.0");
    there = l.find(open, "tjInitDecompress") && l.find(header, "tjDecompressHeader3") &&
            l.find(decode, "tjDecompress2") && l.find(close, "tjDestroy");
  }
};

std::optional<Image> decode_jpeg(std::string_view s, bool& there) {
  static const TurboJpeg lib;
  there = lib.there;
  if (!there) return std::nullopt;
  constexpr int rgb = 0, flags = 4096 | 32768;  // exact inverse transform; a limit on scans
  const std::unique_ptr<void, int (*)(void*)> handle(lib.open(), lib.close);
  int width = 0, height = 0, subsampling = 0, colours = 0;
  if (!handle || lib.header(handle.get(), bytes_of(s), s.size(), &width, &height, &subsampling, &colours) != 0)
    return std::nullopt;
  auto out = blank(height, width, s.size());
  if (!out ||
      lib.decode(handle.get(), bytes_of(s), s.size(), out->rgb.data(), width, width * 3, height, rgb, flags) != 0)
    return std::nullopt;
  return out;
}

struct WebP {
  int (*info)(const uint8_t*, size_t, int* width, int* height) = nullptr;
  uint8_t* (*decode)(const uint8_t*, size_t, uint8_t* to, size_t, int stride) = nullptr;
  bool there = false;

  WebP() {
    const SharedLibrary l("libwebp.so.7");
    there = l.find(info, "WebPGetInfo") && l.find(decode, "WebPDecodeRGBInto");
  }
};

std::optional<Image> decode_webp(std::string_view s, bool& there) {
  static const WebP lib;
  there = lib.there;
  int width = 0, height = 0;
  if (!there || !lib.info(bytes_of(s), s.size(), &width, &height)) return std::nullopt;
  auto out = blank(height, width, s.size());
  if (!out || !lib.decode(bytes_of(s), s.size(), out->rgb.data(), out->rgb.size(), width * 3)) return std::nullopt;
  return out;
}

// The part of libopenjp2 that we call, with its structures as openjpeg.h of version 2 lays them out.
struct OpenJpeg {
  struct Plane {
    uint32_t dx, dy, width, height, x0, y0, precision, bpp, is_signed, resolutions, factor;
    int32_t* data;
    uint16_t alpha;
  };
  struct Picture {
    uint32_t x0, y0, x1, y1, planes;
    int colours;
    Plane* plane;
    uint8_t* profile;
    uint32_t profile_length;
  };
  using Read = size_t(void* to, size_t count, void* from);
  using Skip = int64_t(int64_t count, void* from);
  using Seek = int(int64_t at, void* from);

  void* (*codec)(int format) = nullptr;
  void (*close_codec)(void*) = nullptr;
  void (*defaults)(void* parameters) = nullptr;
  int (*setup)(void* codec, void* parameters) = nullptr;
  void* (*stream)(size_t buffer, int input) = nullptr;
  void (*close_stream)(void*) = nullptr;
  void (*set_read)(void*, Read*) = nullptr;
  void (*set_skip)(void*, Skip*) = nullptr;
  void (*set_seek)(void*, Seek*) = nullptr;
  void (*set_data)(void*, void*, void (*)(void*)) = nullptr;
  void (*set_length)(void*, uint64_t) = nullptr;
  int (*header)(void* stream, void* codec, Picture**) = nullptr;
  int (*decode)(void* codec, void* stream, Picture*) = nullptr;
  void (*close_picture)(Picture*) = nullptr;
  bool there = false;

  OpenJpeg() {
    const SharedLibrary l("libopenjp2.so.7");
    there = l.find(codec, "opj_create_decompress") && l.find(close_codec, "opj_destroy_codec") &&
            l.find(defaults, "opj_set_default_decoder_parameters") && l.find(setup, "opj_setup_decoder") &&
            l.find(stream, "opj_stream_create") && l.find(close_stream, "opj_stream_destroy") &&
            l.find(set_read, "opj_stream_set_read_function") && l.find(set_skip, "opj_stream_set_skip_function") &&
            l.find(set_seek, "opj_stream_set_seek_function") && l.find(set_data, "opj_stream_set_user_data") &&
            l.find(set_length, "opj_stream_set_user_data_length") && l.find(header, "opj_read_header") &&
            l.find(decode, "opj_decode") && l.find(close_picture, "opj_image_destroy");
  }
};

struct Source {
  std::string_view bytes;
  size_t at = 0;
};

size_t read_some(void* to, size_t count, void* from) {
  auto& s = *static_cast<Source*>(from);
  const size_t n = std::min(count, s.bytes.size() - s.at);
  if (n == 0) return SIZE_MAX;  // the end
  std::memcpy(to, s.bytes.data() + s.at, n);
  s.at += n;
  return n;
}
int seek_to(int64_t at, void* from) {
  auto& s = *static_cast<Source*>(from);
  if (at < 0 || static_cast<uint64_t>(at) > s.bytes.size()) return 0;
  s.at = static_cast<size_t>(at);
  return 1;
}
int64_t skip_some(int64_t count, void* from) {
  auto& s = *static_cast<Source*>(from);
  if (count < 0) return -1;
  const auto n = static_cast<int64_t>(std::min<uint64_t>(static_cast<uint64_t>(count), s.bytes.size() - s.at));
  s.at += static_cast<size_t>(n);
  return n == 0 && count > 0 ? -1 : n;
}

// Greys or colours of up to 16 bits, all planes of one size.
std::optional<Image> interleave(const OpenJpeg::Picture& p, int64_t height, int64_t width, std::string_view s) {
  constexpr int ycc = 3, cmyk = 5;
  auto out = blank(height, width, s.size());
  if (!out || p.colours == ycc || p.colours == cmyk) return std::nullopt;
  for (uint32_t i = 0; i < p.planes; ++i) {
    const OpenJpeg::Plane& c = p.plane[i];
    if (c.width != width || c.height != height || !c.data || c.is_signed || c.precision < 8 || c.precision > 16)
      return std::nullopt;
  }
  for (size_t channel = 0; channel < 3; ++channel) {
    const OpenJpeg::Plane& c = p.plane[p.planes < 3 ? 0 : channel];
    for (size_t i = 0; i < static_cast<size_t>(height * width); ++i)
      out->rgb[i * 3 + channel] = static_cast<uint8_t>(std::clamp(c.data[i] >> (c.precision - 8), 0, 255));
  }
  return out;
}

std::optional<Image> decode_jpeg2000(std::string_view s, bool& there) {
  static const OpenJpeg lib;
  there = lib.there;
  if (!there) return std::nullopt;
  constexpr int stream_only = 0, boxed = 2;
  const std::unique_ptr<void, void (*)(void*)> codec(lib.codec(s.size() > 4 && s[0] == '\xff' ? stream_only : boxed),
                                                     lib.close_codec),
      stream(lib.stream(size_t{1} << 16, 1), lib.close_stream);
  if (!codec || !stream) return std::nullopt;
  Source source{s};
  lib.set_read(stream.get(), read_some);
  lib.set_skip(stream.get(), skip_some);
  lib.set_seek(stream.get(), seek_to);
  lib.set_data(stream.get(), &source, nullptr);
  lib.set_length(stream.get(), s.size());
  const auto parameters =
      std::make_unique<std::array<uint64_t, 8192>>();  // about 8 KiB of it are the library's structure
  lib.defaults(parameters->data());
  OpenJpeg::Picture* raw = nullptr;
  if (!lib.setup(codec.get(), parameters->data())) return std::nullopt;
  const bool read = lib.header(stream.get(), codec.get(), &raw);
  const std::unique_ptr<OpenJpeg::Picture, void (*)(OpenJpeg::Picture*)> picture(raw, lib.close_picture);
  if (!read || !picture || picture->x1 < picture->x0 || picture->y1 < picture->y0) return std::nullopt;
  if (picture->planes == 0 || picture->planes > 4) return std::nullopt;  // the library makes room for all of them
  const int64_t height = int64_t{picture->y1} - picture->y0, width = int64_t{picture->x1} - picture->x0;
  if (!is_sane_image(height, width, s.size()) || !lib.decode(codec.get(), stream.get(), picture.get()))
    return std::nullopt;
  return interleave(*picture, height, width, s);
}

constexpr LibraryCodec codecs[] = {
    {"JPEG", "libturbojpeg", "libturbojpeg0", decode_jpeg},
    {"WebP", "libwebp", "libwebp7", decode_webp},
    {"JPEG 2000", "libopenjp2", "libopenjp2-7", decode_jpeg2000},
};

}  // namespace

std::span<const LibraryCodec> library_codecs() { return codecs; }

}  // namespace cameo::ops
