#include "formats/deflate.h"

#ifdef CAMEO_NO_ZLIB

namespace cameo::formats {
bool inflate_into(std::span<const std::byte> in, std::span<std::byte> out) { return portable::inflate_into(in, out); }
uint32_t crc32_of(std::span<const std::byte> data, uint32_t crc) { return portable::crc32_of(data, crc); }
}  // namespace cameo::formats

#else

#include <zlib.h>

#include <algorithm>

#include "support/error.h"

namespace cameo::formats {

namespace {
struct Inflater {
  z_stream stream{};
  Inflater() { invariant(inflateInit2(&stream, -MAX_WBITS) == Z_OK, "zlib starts"); }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
};

// zlib counts in 32 bits: hands it as much of a run as it can take.
uInt portion(size_t left) { return static_cast<uInt>(std::min<size_t>(left, size_t{1} << 30)); }
}  // namespace

bool inflate_into(std::span<const std::byte> in, std::span<std::byte> out) {
  Inflater z;
  for (;;) {
    const uInt give = portion(in.size()), room = portion(out.size());
    Bytef none = 0;
    z.stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(in.data()));
    z.stream.avail_in = give;
    z.stream.next_out = out.empty() ? &none : reinterpret_cast<Bytef*>(out.data());
    z.stream.avail_out = room;
    const int code = inflate(&z.stream, Z_NO_FLUSH);
    in = in.subspan(give - z.stream.avail_in);
    out = out.subspan(room - z.stream.avail_out);
    if (code == Z_STREAM_END) return out.empty() && in.empty();
    if (code != Z_OK) return false;  // Z_BUF_ERROR too: nothing moved, so the data is too short or too long
  }
}

uint32_t crc32_of(std::span<const std::byte> data, uint32_t crc) {
  while (!data.empty()) {
    const uInt n = portion(data.size());
    crc = static_cast<uint32_t>(crc32(crc, reinterpret_cast<const Bytef*>(data.data()), n));
    data = data.subspan(n);
  }
  return crc;
}

}  // namespace cameo::formats

#endif
