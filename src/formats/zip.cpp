#include "formats/zip.h"

#include <zlib.h>

#include <algorithm>
#include <numeric>

#include "formats/zip_directory.h"
#include "support/error.h"

namespace cameo::zip {

bool looks_like_zip(std::string_view head) { return head.starts_with("PK\x03\x04"); }

Archive::Archive(Bytes file, std::string path, Limits limits)
    : file_(std::move(file)), path_(std::move(path)), entries_(read_directory(file_.text(), path_, limits)) {
  by_name_.resize(entries_.size());
  std::iota(by_name_.begin(), by_name_.end(), 0u);
  const auto name = [&](uint32_t i) -> const std::string& { return entries_[i].name; };
  std::sort(by_name_.begin(), by_name_.end(), [&](uint32_t a, uint32_t b) { return name(a) < name(b); });
  const auto twin = std::adjacent_find(by_name_.begin(), by_name_.end(),
                                       [&](uint32_t a, uint32_t b) { return name(a) == name(b); });
  if (twin != by_name_.end())
    throw error("file.damaged", cat("two entries of the archive are called ", name(*twin)))
        .at({.file = path_, .offset = entries_[*twin].header_offset});
}

const Entry* Archive::find(std::string_view name) const {
  const auto at = std::lower_bound(by_name_.begin(), by_name_.end(), name,
                                   [&](uint32_t i, std::string_view n) { return entries_[i].name < n; });
  return at == by_name_.end() || entries_[*at].name != name ? nullptr : &entries_[*at];
}

std::string_view Archive::top_folder() const {
  if (entries_.empty()) return {};
  const std::string_view first = entries_.front().name;
  const auto slash = first.find('/');
  if (slash == first.npos) return {};
  const auto with_slash = first.substr(0, slash + 1);
  const bool shared = std::all_of(entries_.begin(), entries_.end(),
                                  [&](const Entry& e) { return std::string_view(e.name).starts_with(with_slash); });
  return shared ? first.substr(0, slash) : std::string_view{};
}

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

// Fills `out` exactly; false when the data is broken, or longer or shorter than that.
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

uint32_t crc_of(std::span<const std::byte> data) {
  uLong crc = crc32(0, nullptr, 0);
  while (!data.empty()) {
    const uInt n = portion(data.size());
    crc = crc32(crc, reinterpret_cast<const Bytef*>(data.data()), n);
    data = data.subspan(n);
  }
  return static_cast<uint32_t>(crc);
}
}  // namespace

Bytes Archive::read(const Entry& e, Crc crc) const {
  const Loc where{.file = cat(path_, "!", e.name), .offset = e.data_offset};
  Bytes data = file_.slice(narrow<size_t>(e.data_offset), narrow<size_t>(e.packed_size));
  if (e.method == Method::deflated) {
    std::vector<std::byte> unpacked(narrow<size_t>(e.size));
    if (!inflate_into(data.span(), unpacked)) throw error("file.damaged", cat("the entry ", e.name, " does not unpack")).at(where);
    data = Bytes::own(std::move(unpacked));
  }
  if (crc == Crc::check && crc_of(data.span()) != e.crc)
    throw error("file.damaged", cat("the checksum of the entry ", e.name, " is wrong")).at(where);
  return data;
}

}  // namespace cameo::zip
