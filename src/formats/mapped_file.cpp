#include "formats/mapped_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "formats/file_handle.h"
#include "formats/queued_writer.h"
#include "support/error.h"

namespace cameo {

namespace fs = std::filesystem;

std::span<const std::byte> as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

namespace {
enum class Kind { regular, stream };

[[noreturn]] void unreadable(const std::string& path, int code) {
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

Bytes mapped(FileHandle& file, const std::string& path) {
  const uint64_t size = file.size();
  if (!std::in_range<ptrdiff_t>(size))
    throw error("file.too-large", cat(path, " has ", size, " bytes, more than this machine can address")).at({.file = path});
  if (size == 0) return read_to_end(file, path);  // empty, or a file that does not know its size (/proc)
  auto whole = file.map(static_cast<size_t>(size));
  return whole.data() ? whole : read_to_end(file, path);
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
  // A hard link that is taken away just after its opening leaves a file with one name, elsewhere: look at the place again.
  const auto again = FileHandle::open_below(folder, below);
  if (!file.is_plain() || !again.valid() || !again.is_plain() || !file.same_file(again))
    throw error("file.not-regular", cat(path, " is not a regular file with one name")).at({.file = path});
  return mapped(file, path);
}

struct AtomicFile::State {
  static constexpr size_t read_from = size_t{1} << 14;        // mapped bytes, so many, are read anew instead of looked at
  static constexpr uint64_t queued_from = uint64_t{8} << 20;  // files this large are written on another thread
  std::string path;       // as the user wrote it
  fs::path target;        // links followed
  std::string temporary;  // empty when written directly
  FileHandle file;
  std::unique_ptr<QueuedWriter> queue;
  bool may_queue = false;
  WriteBuffer buffer;
  uint64_t flushed = 0;  // handed on
  bool committed = false;

  [[noreturn]] void fail(int code) const {
    throw error("write.failed", cat("cannot write ", path == "-" ? "standard output" : path))
        .at({.file = path})
        .why(std::strerror(code));
  }
  void write(std::span<const std::byte> data) {
    if (const int code = file.write_all(data)) fail(code);
  }
  // Everything goes through buffers: whole ones lie at whole pages of the new file, where the system takes them in large
  // steps. Copying from file to file by the system takes twice as long where the two places differ within a page.
  void append(std::span<const std::byte> data) {
    MappedRange range;
    if (data.size() >= read_from) range = mapped_range(data);
    while (!data.empty()) {
      const auto room = buffer.room();
      const size_t n = range.file ? read(range, room) : std::min(data.size(), room.size());
      if (!range.file) std::memcpy(room.data(), data.data(), n);
      data = data.subspan(n);
      buffer.used += n;
      if (n == room.size()) flush();
    }
  }
  size_t read(MappedRange& range, std::span<std::byte> room) const {
    const auto got = read_range(range, room);
    if (got < 0) fail(errno);
    range.offset += static_cast<uint64_t>(got);
    range.size -= static_cast<uint64_t>(got);
    return static_cast<size_t>(got);
  }
  void flush() {
    flushed += buffer.used;
    if (queue) {
      buffer = queue->exchange(std::move(buffer));
      return;
    }
    write(buffer.bytes());
    buffer.used = 0;
  }
  void finish() {
    flush();
    if (!queue) return;
    const int code = queue->finish();
    queue.reset();
    if (code) fail(code);
  }
  void start_queue() {
    may_queue = false;  // once is enough, whether there is one or not
    queue = QueuedWriter::start(file);
  }
  void open();
  void open_temporary();
};

void AtomicFile::State::open() {
  if (path == "-") {
    file = FileHandle::standard_output();
    return;
  }
  std::error_code code;
  target = path;
  if (fs::is_symlink(fs::symlink_status(target, code)))
    if (auto followed = fs::weakly_canonical(target, code); !code) target = std::move(followed);
  const auto status = fs::status(target, code);
  if (fs::is_directory(status)) fail(EISDIR);
  if (!fs::exists(status) || fs::is_regular_file(status)) return open_temporary();
  file = FileHandle::open_for_writing(target.string(), /*fresh=*/false);
  if (!file.valid()) fail(errno);
}

void AtomicFile::State::open_temporary() {
  for (int attempt = 0; attempt < 1000; ++attempt) {
    auto name = target;
    name += cat(".", FileHandle::process_id(), "-", attempt, ".tmp");
    file = FileHandle::open_for_writing(name.string(), /*fresh=*/true);
    if (file.valid()) {
      temporary = name.string();
      may_queue = true;
      return;
    }
    if (errno != EEXIST) fail(errno);
  }
  fail(EEXIST);
}

AtomicFile::AtomicFile(std::string path) : state_(std::make_unique<State>()) {
  state_->path = std::move(path);
  state_->open();
}

AtomicFile::~AtomicFile() {
  state_->queue.reset();
  if (state_->committed || state_->temporary.empty()) return;
  state_->file.close();
  std::error_code ignored;
  fs::remove(state_->temporary, ignored);
}

void AtomicFile::append(std::span<const std::byte> data) {
  if (state_->may_queue && position() + data.size() >= State::queued_from) state_->start_queue();
  state_->append(data);
}

void AtomicFile::expect(uint64_t bytes) {
  State& s = *state_;
  if (s.temporary.empty()) return;
  if (bytes >= WriteBuffer::capacity) s.file.expect(bytes);
  if (s.may_queue && bytes >= State::queued_from) s.start_queue();
}

void AtomicFile::pad_to(uint64_t alignment) {
  invariant(alignment > 0, "an alignment is positive");
  static constexpr char zeros[4096] = {};
  for (uint64_t need = (alignment - position() % alignment) % alignment; need > 0;) {
    const auto part = static_cast<size_t>(std::min<uint64_t>(need, sizeof zeros));
    append(std::string_view(zeros, part));
    need -= part;
  }
}

uint64_t AtomicFile::position() const { return state_->flushed + state_->buffer.used; }

void AtomicFile::commit(bool durable) {
  State& s = *state_;
  invariant(!s.committed, "a file is committed once");
  s.finish();
  if (s.temporary.empty()) {
    s.committed = true;
    return;
  }
  std::error_code code;
  if (const auto status = fs::status(s.target, code); fs::is_regular_file(status))
    fs::permissions(s.temporary, status.permissions(), code);
  if (durable && !s.file.sync()) s.fail(errno);
  if (!s.file.close()) s.fail(errno);
  fs::rename(s.temporary, s.target, code);
  if (code) s.fail(code.value());
  s.committed = true;
  if (durable) sync_folder(s.target.parent_path().string());
}

Sink AtomicFile::sink() {
  return [this](std::span<const std::byte> data) { append(data); };
}

}  // namespace cameo
