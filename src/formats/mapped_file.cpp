#include "formats/mapped_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "formats/file_handle.h"
#include "support/error.h"

namespace cameo::formats {

namespace fs = std::filesystem;

std::span<const std::byte> as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

namespace {
enum class Kind { regular, stream };

[[noreturn]] void unreadable(const std::string& path, int code) {
  if (path.empty()) throw error("file.missing", "the path of the file is empty");
  if (code == ENOENT || code == ENOTDIR) throw error("file.missing", cat("no such file: ", path)).at({.file = path});
  throw error("file.unreadable", cat("cannot read ", path)).at({.file = path}).why(std::strerror(code));
}

// Says what a path is before it is opened: opening a pipe or a device may wait for ever or have effects.
Kind kind_of(const std::string& path) {
  std::error_code code;
  const auto status = fs::status(path, code);
  if (status.type() == fs::file_type::not_found) unreadable(path, ENOENT);
  if (code) unreadable(path, code.value());
  if (fs::is_regular_file(status)) return Kind::regular;
  if (fs::is_fifo(status)) return Kind::stream;
  throw error("file.not-regular", cat(path, fs::is_directory(status) ? " is a folder" : " is not a regular file"))
      .at({.file = path});
}

Bytes read_to_end(FileHandle& file, const std::string& path) {
  constexpr size_t step = size_t{1} << 20;
  std::vector<std::byte> data;
  for (;;) {
    const size_t had = data.size();
    data.resize(had + std::max(step, had / 2));
    const auto got = file.read(std::span(data).subspan(had));
    if (got < 0) unreadable(path, errno);
    data.resize(had + static_cast<size_t>(got));
    if (got == 0) break;
  }
  data.shrink_to_fit();
  return Bytes::own(std::move(data));
}

// Reading a small file is faster than mapping it, and a later change of the file has no effect.
constexpr uint64_t map_from = uint64_t{1} << 17;

Bytes read_exactly(FileHandle& file, size_t size, const std::string& path) {
  std::vector<std::byte> data(size);
  for (size_t had = 0; had < size;) {
    const auto got = file.read(std::span(data).subspan(had));
    if (got < 0) unreadable(path, errno);
    if (got == 0)
      throw error("file.changed", cat(path, " was changed while it was read"))
          .at({.file = path})
          .why(cat("it had ", size, " bytes, and ends at ", had));
    had += static_cast<size_t>(got);
  }
  return Bytes::own(std::move(data));
}

Bytes mapped(FileHandle& file, const std::string& path) {
  const uint64_t size = file.size();
#if !CAMEO_PIECES
  if (!std::in_range<ptrdiff_t>(size))
    throw error("file.too-large", cat(path, " has ", size, " bytes, more than this machine can address"))
        .at({.file = path});
#endif
  if (size == 0) return read_to_end(file, path);  // empty, or a file that does not know its size (/proc)
  if (size < map_from) return read_exactly(file, static_cast<size_t>(size), path);
  auto whole = file.map(size, path);
  return !whole.empty() ? whole : read_to_end(file, path);
}

Bytes load(const std::string& path, bool map) {
  if (path == "-") {
    auto input = FileHandle::standard_input();
    return read_to_end(input, "standard input");
  }
  const auto kind = kind_of(path);
  auto file = FileHandle::open_for_reading(path);
  if (!file.valid()) unreadable(path, errno);
  return kind == Kind::stream || !map ? read_to_end(file, path) : mapped(file, path);
}
}  // namespace

Bytes map_file(const std::string& path) { return load(path, true); }
Bytes read_file(const std::string& path) { return load(path, false); }

Bytes map_file_below(const std::string& folder, const std::string& below) {
  const std::string path = (fs::path(folder) / below).string();
  auto file = FileHandle::open_below(folder, below);
  if (!file.valid()) unreadable(path, errno);
  // A hard link that is taken away just after its opening leaves a file with one name, elsewhere. Whoever swaps links
  // all the time may hit one look at the place by chance, but not several.
  constexpr int looks = 5;
  for (int i = 0; i < looks; ++i) {
    const auto again = FileHandle::open_below(folder, below);
    if (!file.is_plain() || !again.valid() || !again.is_plain() || !file.same_file(again))
      throw error("file.not-regular", cat(path, " is not a regular file with one name")).at({.file = path});
  }
  return mapped(file, path);
}

namespace {
[[noreturn]] void changed(const std::string& path) {
  throw error("file.changed", cat(path, " was changed while it was read"))
      .at({.file = path})
      .why("parts of it are gone, or its size or modification time changed")
      .help("wait until its writer has finished, then try again; a new version should replace it by renaming");
}
}  // namespace

void require_whole_files() {
  if (const auto lost = lost_files(); !lost.empty()) changed(lost.front());
}

void require_unchanged_files() {
  require_whole_files();
  if (const auto other = changed_files(); !other.empty()) changed(other.front());
}

}  // namespace cameo::formats
