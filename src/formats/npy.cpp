#include "formats/npy.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "formats/npy_header.h"
#include "support/error.h"

namespace cameo::npy {
namespace {
// The product of the shape and the item size, or nothing when it does not fit.
std::optional<uint64_t> checked_product(uint64_t item_bytes, const std::vector<int64_t>& shape) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  uint64_t n = item_bytes;
  for (const int64_t d : shape) {
    if (d < 0 || (n != 0 && static_cast<uint64_t>(d) > INT64_MAX / n)) return std::nullopt;
    n *= static_cast<uint64_t>(d);
  }
  return n;
}

[[noreturn]] void unsupported(std::string_view descr, std::string_view what, std::string_view hint) {
  throw error("file.unsupported", cat("an array has the dtype ", descr, ", ", what)).help(std::string(hint));
}
}  // namespace

uint64_t Descr::number_bytes() const {
  if (kind == 'U') return 4;
  if (kind == 'S' || kind == 'V') return 1;
  return kind == 'c' ? item_bytes / 2 : item_bytes;
}

Descr parse_descr(std::string_view descr) {
  std::string_view rest = descr;
  Descr d;
  if (!rest.empty() && std::string_view("<>|=").find(rest[0]) != rest.npos) {
    d.order = rest[0] == '=' ? '<' : rest[0];
    rest.remove_prefix(1);
  }
  d.kind = rest.empty() ? '?' : rest[0];
  if (d.kind == 'O') unsupported(descr, "Python objects", "save an array of numbers: np.asarray(x, dtype=np.float32)");
  if (d.kind == 'M' || d.kind == 'm') unsupported(descr, "dates", "save them as int64");
  const char* end = rest.data() + rest.size();
  const auto [after, code] = std::from_chars(rest.data() + std::min<size_t>(1, rest.size()), end, d.item_bytes);
  if (code != std::errc{} || after != end || std::string_view("biufcSUV").find(d.kind) == std::string_view::npos)
    unsupported(descr, "which is not known", "save an array of numbers, bool or text");
  static constexpr uint64_t widest = 1 << 30;
  const bool number = std::string_view("biufc").find(d.kind) != std::string_view::npos;
  const uint64_t bytes = d.item_bytes;
  if (bytes > widest || (number && (bytes == 0 || bytes > 16 || (bytes & (bytes - 1)) != 0)) ||
      (d.kind == 'c' && bytes < 4))
    unsupported(descr, "whose size is wrong", "long double is not portable: save float64");
  if (d.kind == 'U') d.item_bytes *= 4;
  return d;
}

uint64_t element_count(const Array& a) {
  const auto n = checked_product(1, a.shape);
  if (!n) throw error("file.damaged", "an array's shape is too large");
  return *n;
}

Array read(const Bytes& file, const std::string& path) {
  Array a;
  const size_t start = read_header(file.text(), path, a);
  Descr d;
  try {
    d = parse_descr(a.descr);
  } catch (Error& e) {
    throw std::move(e).at({.file = path});
  }
  const auto bytes = checked_product(d.item_bytes, a.shape);
  const uint64_t have = file.size() - start;
  if (!bytes || *bytes > have || (d.item_bytes == 0 && element_count(a) != 0))
    throw error("file.damaged", "this npy array is cut off, or its header is wrong")
        .at({.file = path, .offset = file.size()})
        .why(bytes ? cat("its header says ", *bytes, " bytes, there are ", have) : "its shape does not fit any memory");
  a.data = file.slice(start, static_cast<size_t>(*bytes));
  return a;
}

std::vector<Named> read_npz(const Bytes& file, const std::string& path) {
  const zip::Archive archive(file, path);
  std::vector<Named> arrays;
  for (const auto& e : archive.entries()) {
    if (!e.name.ends_with(".npy"))
      throw error("file.not-npy", cat("the archive holds ", e.name, ", which is not an npy array"))
          .at({.file = path, .offset = e.header_offset})
          .help("write it with numpy.savez");
    Array a = read(archive.read(e, zip::Crc::check), cat(path, "!", e.name));
    arrays.push_back({e.name.substr(0, e.name.size() - 4), std::move(a)});
  }
  return arrays;
}

std::vector<Named> load(const std::string& path) {
  const Bytes file = map_file(path);
  const std::string_view text = file.text();
  if (text.starts_with("PK")) return read_npz(file, path);
  if (text.starts_with("\x93NUMPY")) {
    Array only = read(file, path);  // apart from the list: g++ 12 cleans up wrongly when a list's element throws
    return {{"", std::move(only)}};
  }
  throw error("file.not-npy", cat(path, " is neither an npz archive nor an npy array"))
      .at({.file = path})
      .help("write it with numpy.savez(path, x=array)");
}

void write(const Sink& out, const Array& a) {
  out(as_bytes(header(a)));
  out(a.data.span());
}

void NpzWriter::add(std::string_view name, const Array& a) {
  const std::string head = header(a);
  const std::span<const std::byte> parts[] = {as_bytes(head), a.data.span()};
  zip_.add(cat(name, ".npy"), parts);
}

}  // namespace cameo::npy
