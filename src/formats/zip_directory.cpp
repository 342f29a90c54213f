#include "formats/zip_directory.h"

#include <algorithm>

#include "support/endian.h"
#include "support/error.h"
#include "support/file_bytes.h"

namespace cameo::zip {
namespace {
constexpr uint64_t local_bytes = 30, central_bytes = 46, end_bytes = 22, end64_bytes = 56, locator64_bytes = 20;
// Deflate cannot do better than this; what claims more is not deflated data.
constexpr uint64_t deflate_best_ratio = 1032;

struct Directory {
  uint64_t count = 0, offset = 0, size = 0;
};

// Parts of a file, a few at hand: a file that is not in memory is read around the places that are asked for.
class FileParts {
 public:
  explicit FileParts(const Bytes& file) : file_(file) {}
  uint64_t size() const { return length_of(file_); }
  // Valid until the next call. Precondition: it lies inside the file.
  std::string_view part(uint64_t offset, uint64_t length) {
    if (in_memory(file_)) return file_.text().substr(static_cast<size_t>(offset), static_cast<size_t>(length));
    for (Window& w : windows_)
      if (offset >= w.from && length <= length_of(w.bytes) && offset - w.from <= length_of(w.bytes) - length)
        return w.bytes.text().substr(static_cast<size_t>(offset - w.from), static_cast<size_t>(length));
    std::swap(windows_[0], windows_[1]);  // one follows the directory, one the entries
    windows_[0] = {offset, file_.slice(offset, std::min(std::max(length, window_bytes), size() - offset))};
    return windows_[0].bytes.text().substr(0, static_cast<size_t>(length));
  }

 private:
  static constexpr uint64_t window_bytes = uint64_t{1} << 16;
  struct Window {
    uint64_t from = 0;
    Bytes bytes = {};
  };
  const Bytes& file_;
  Window windows_[2];
};

class DirectoryReader {
 public:
  DirectoryReader(const Bytes& file, const std::string& path, const Limits& limits)
      : file_(file), path_(path), limits_(limits) {}

  std::vector<Entry> read();

 private:
  [[noreturn]] void damaged(uint64_t offset, std::string what) const {
    throw error("file.damaged", cat("this zip archive is damaged: ", what)).at({.file = path_, .offset = offset});
  }
  // All numbers of the file are read here. Bounds are checked before, per record.
  template <class T>
  T at(uint64_t offset) const {
    return load_le<T>(file_.part(offset, sizeof(T)).data());
  }
  bool holds(uint64_t offset, uint64_t length) const {
    return offset <= file_.size() && length <= file_.size() - offset;
  }
  bool is(uint64_t offset, uint64_t length, uint32_t signature) const {
    return holds(offset, length) && at<uint32_t>(offset) == signature;
  }

  uint64_t find_end() const;
  Directory find_directory() const;
  uint64_t read_entry(uint64_t offset, uint64_t limit, Entry& e) const;
  void widen(std::string_view extra, uint64_t offset, Entry& e) const;
  void locate_data(Entry& e, uint64_t directory_offset) const;
  void check_overlaps(const std::vector<Entry>& entries) const;
  void check_sizes(const std::vector<Entry>& entries) const;

  mutable FileParts file_;
  const std::string& path_;
  const Limits& limits_;
};

// The end record is followed by a comment of at most 64 KiB, so it is searched from the back.
uint64_t DirectoryReader::find_end() const {
  if (file_.size() >= end_bytes) {
    const uint64_t last = file_.size() - end_bytes, most = std::min<uint64_t>(last, saturated16);
    file_.part(last - most, file_.size() - (last - most));
    for (uint64_t back = 0; back <= most; ++back) {
      const uint64_t offset = last - back;
      if (at<uint32_t>(offset) == end_signature && at<uint16_t>(offset + 20) == back) return offset;
    }
  }
  if (looks_like_zip(file_.part(0, std::min<uint64_t>(file_.size(), 4))))
    throw error("file.damaged", "this zip archive has no directory at its end")
        .at({.file = path_, .offset = file_.size()})
        .help("the file is probably cut off: copy or download it again");
  throw error("file.not-zip", cat(path_, " is not a zip archive")).at({.file = path_});
}

Directory DirectoryReader::find_directory() const {
  const uint64_t end = find_end();
  Directory d{at<uint16_t>(end + 10), at<uint32_t>(end + 16), at<uint32_t>(end + 12)};
  uint64_t directory_limit = end;
  if (at<uint16_t>(end + 4) != 0 && at<uint16_t>(end + 4) != saturated16)
    throw error("file.unsupported", "this zip archive is split over several disks").at({.file = path_, .offset = end});
  if (end >= locator64_bytes && is(end - locator64_bytes, locator64_bytes, locator64_signature)) {
    const uint64_t end64 = at<uint64_t>(end - locator64_bytes + 8);
    if (!is(end64, end64_bytes, end64_signature) || end64 + end64_bytes > end - locator64_bytes)
      damaged(end - locator64_bytes, "its zip64 record is not where it should be");
    d = {at<uint64_t>(end64 + 32), at<uint64_t>(end64 + 48), at<uint64_t>(end64 + 40)};
    directory_limit = end64;
  }
  if (d.offset > directory_limit || d.size > directory_limit - d.offset)
    damaged(end, "its directory is not inside the file");
  if (d.count > d.size / central_bytes) damaged(end, cat("its directory is too short for ", d.count, " entries"));
  if (d.count > limits_.entries)
    throw error("file.too-large", cat("this zip archive has ", d.count, " entries")).at({.file = path_, .offset = end});
  return d;
}

// Values that do not fit 32 bits stand in an extra field, in this order, and only those that do not fit.
void DirectoryReader::widen(std::string_view extra, uint64_t offset, Entry& e) const {
  uint64_t* const wanted[] = {&e.size, &e.packed_size, &e.header_offset};
  while (extra.size() >= 4) {
    const auto id = load_le<uint16_t>(extra.data());
    const size_t length = load_le<uint16_t>(extra.data() + 2);
    if (length > extra.size() - 4) break;  // some writers leave padding that is not a field
    std::string_view body = extra.substr(4, length);
    extra.remove_prefix(4 + length);
    if (id != zip64_extra) continue;
    for (uint64_t* v : wanted) {
      if (*v != saturated32) continue;
      if (body.size() < 8) damaged(offset, cat("the zip64 sizes of ", e.name, " are missing"));
      *v = load_le<uint64_t>(body.data());
      body.remove_prefix(8);
    }
    return;
  }
}

// Returns the offset after the entry.
uint64_t DirectoryReader::read_entry(uint64_t offset, uint64_t limit, Entry& e) const {
  if (limit - offset < central_bytes || at<uint32_t>(offset) != central_signature)
    damaged(offset, "its directory is broken");
  const uint64_t name_length = at<uint16_t>(offset + 28), extra_length = at<uint16_t>(offset + 30);
  const uint64_t after = offset + central_bytes + name_length + extra_length + at<uint16_t>(offset + 32);
  if (after > limit) damaged(offset, "an entry of its directory is cut off");
  e.name = file_.part(offset + central_bytes, name_length);
  e.crc = at<uint32_t>(offset + 16);
  e.packed_size = at<uint32_t>(offset + 20);
  e.size = at<uint32_t>(offset + 24);
  e.header_offset = at<uint32_t>(offset + 42);
  widen(file_.part(offset + central_bytes + name_length, extra_length), offset, e);
  const auto method = at<uint16_t>(offset + 10);
  if (at<uint16_t>(offset + 8) & encrypted_flag)
    throw error("file.unsupported", cat("the zip entry ", e.name, " is encrypted"))
        .at({.file = path_, .offset = offset});
  if (method != 0 && method != 8)
    throw error("file.unsupported", cat("the zip entry ", e.name, " is compressed by method ", method))
        .at({.file = path_, .offset = offset})
        .help("only stored and deflated entries can be read: write the archive again with an ordinary zip tool");
  e.method = static_cast<Method>(method);
  return after;
}

// Sizes in the local header may be zero (a descriptor follows the data), so only its lengths and name are used.
void DirectoryReader::locate_data(Entry& e, uint64_t directory_offset) const {
  const uint64_t h = e.header_offset;
  if (!is(h, local_bytes, local_signature)) damaged(h, cat("the entry ", e.name, " is not where the directory says"));
  const uint64_t name_length = at<uint16_t>(h + 26);
  e.data_offset = h + local_bytes + name_length + at<uint16_t>(h + 28);
  if (e.data_offset > directory_offset || e.packed_size > directory_offset - e.data_offset)
    damaged(h, cat("the entry ", e.name, " runs out of the file"));
  if (file_.part(h + local_bytes, name_length) != e.name)
    damaged(h, cat("the entry ", e.name, " has another name before its data"));
  if (e.method == Method::stored && e.size != e.packed_size)
    damaged(h, cat("the stored entry ", e.name, " has two sizes"));
  if (e.method == Method::deflated && e.size / deflate_best_ratio > e.packed_size)
    damaged(h, cat("the entry ", e.name, " cannot unpack to ", e.size, " bytes"));
}

void DirectoryReader::check_overlaps(const std::vector<Entry>& entries) const {
  std::vector<const Entry*> order;
  order.reserve(entries.size());
  for (const Entry& e : entries) order.push_back(&e);
  std::sort(order.begin(), order.end(), [](auto* a, auto* b) { return a->header_offset < b->header_offset; });
  for (size_t i = 1; i < order.size(); ++i)
    if (order[i]->header_offset < order[i - 1]->data_offset + order[i - 1]->packed_size)
      damaged(order[i]->header_offset, cat("the entries ", order[i - 1]->name, " and ", order[i]->name, " overlap"));
}

void DirectoryReader::check_sizes(const std::vector<Entry>& entries) const {
  const uint64_t ratio = std::max<uint64_t>(limits_.ratio, 1);
  const uint64_t by_file = file_.size() > UINT64_MAX / ratio ? UINT64_MAX : file_.size() * ratio;
  const uint64_t bound = std::max(limits_.unpacked_bytes, by_file);
  uint64_t total = 0;
  for (const Entry& e : entries) {
    if (e.size > bound - total)
      throw error("file.too-large", cat("this zip archive unpacks to more than ", bound, " bytes"))
          .at({.file = path_, .offset = e.header_offset})
          .why(cat("it has ", file_.size(), " bytes itself"));
    total += e.size;
  }
}

std::vector<Entry> DirectoryReader::read() {
  const Directory d = find_directory();
  std::vector<Entry> entries(static_cast<size_t>(d.count));
  uint64_t offset = d.offset;
  for (Entry& e : entries) {
    offset = read_entry(offset, d.offset + d.size, e);
    locate_data(e, d.offset);
  }
  check_overlaps(entries);
  check_sizes(entries);
  return entries;
}
}  // namespace

std::vector<Entry> read_directory(const Bytes& file, const std::string& path, const Limits& limits) {
  return DirectoryReader(file, path, limits).read();
}

}  // namespace cameo::zip
