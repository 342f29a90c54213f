#include "formats/atomic_file.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <optional>

#include "formats/file_handle.h"
#include "formats/put.h"
#include "formats/queued_writer.h"
#include "formats/temporary_names.h"
#include "support/content_hash.h"
#include "support/error.h"
#include "support/file_bytes.h"
#include "support/progress.h"

namespace cameo::formats {

namespace fs = std::filesystem;

struct AtomicFile::State {
  static constexpr size_t read_from =
      size_t{1} << 14;  // this many mapped bytes or more are read from the file instead of through the mapping
  static constexpr uint64_t queued_from = uint64_t{8} << 20;  // files this large are written on another thread
  enum class Stage : uint8_t { writing, finished, published };
  std::string path;       // as the user wrote it
  fs::path target;        // links followed; empty when written directly
  std::string temporary;  // its name until it is published; empty while it has none
  FileHandle file;
  std::unique_ptr<QueuedWriter> queue;
  bool may_queue = false, given_up = false, is_new = false;
  Stage stage = Stage::writing;
  WriteBuffer buffer;
  uint64_t flushed = 0;   // handed on
  uint64_t expected = 0;  // in all; 0: not known
  std::optional<ContentHash> hash;

  [[noreturn]] void fail(int code) const {
    throw error("write.failed", cat("cannot write ", path == "-" ? "standard output" : path))
        .at({.file = path})
        .why(std::strerror(code));
  }
  void write(std::span<const std::byte> data) {
    if (const int code = file.write_all(data)) fail(code);
  }
  // Everything goes through buffers: whole ones lie at whole pages of the new file, where the system takes them in
  // large steps. Copying from file to file by the system takes twice as long where the two places differ within a page.
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
    if (got == 0)
      throw error("file.changed", cat(name_of(range), " was changed while it was read"))
          .at({.file = name_of(range)})
          .why("it is shorter than it was");
    range.offset += static_cast<uint64_t>(got);
    range.size -= static_cast<uint64_t>(got);
    return static_cast<size_t>(got);
  }
  // By reference, where the system can and nobody has to see the bytes.
  bool append_from(const FilePlace& from, uint64_t length) {
    if (length < read_from || hash || queue) return false;
    flush();
    if (!file.append_from(from, length)) return false;
    flushed += length;
    return true;
  }
  void flush() {
    tell_progress("writing", flushed, expected);
    flushed += buffer.used;
    if (hash && buffer.used > 0) hash->add(buffer.bytes());
    if (queue) {
      buffer = queue->exchange(std::move(buffer));
      return;
    }
    write(buffer.bytes());
    buffer.used = 0;
  }
  void drain() {
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
  void open_hidden();
  void open_temporary();
  void name_temporary();
};

void AtomicFile::State::open() {
  if (path == "-") {
    file = FileHandle::standard_output();
    return;
  }
  std::error_code code;
  fs::path at = path;
  if (fs::is_symlink(fs::symlink_status(at, code)))
    if (auto followed = fs::weakly_canonical(at, code); !code) at = std::move(followed);
  const auto status = fs::status(at, code);
  if (fs::is_directory(status) || !at.has_filename()) fail(EISDIR);
  if (!fs::exists(status) || fs::is_regular_file(status)) {
    target = std::move(at);
    return open_hidden();
  }
  file = FileHandle::open_for_writing(at.string(), /*fresh=*/false);
  if (!file.valid()) fail(errno);
}

void AtomicFile::State::open_hidden() {
  const std::string folder = target.parent_path().string();
  remove_dead_temporaries(folder);
  may_queue = true;
  file = FileHandle::open_unnamed(folder);
  if (!file.valid()) return open_temporary();
  file.try_lock();  // for the moment in which it has a temporary name
}

// The lock is taken after the name is given. Another process that cleans up may come between: then the name is gone,
// and another is tried.
void AtomicFile::State::open_temporary() {
  for (int attempt = 0; attempt < 1000; ++attempt) {
    const std::string name = temporary_name(target.string());
    file = FileHandle::open_for_writing(name, /*fresh=*/true);
    if (!file.valid() && errno != EEXIST) fail(errno);
    if (!file.valid() || file.try_lock() == FileHandle::Lock::busy || !file.is_at(name)) continue;
    temporary = name;
    return;
  }
  fail(EEXIST);
}

void AtomicFile::State::name_temporary() {
  for (int attempt = 0; attempt < 1000; ++attempt) {
    const std::string name = temporary_name(target.string());
    const int code = file.give_name(name);
    if (code == 0) return void(temporary = name);
    if (code != EEXIST) fail(code);
  }
  fail(EEXIST);
}

AtomicFile::AtomicFile(std::string path) : state_(std::make_unique<State>()) {
  state_->path = std::move(path);
  state_->open();
}

AtomicFile::~AtomicFile() {
  state_->queue.reset();
  std::error_code ignored;
  if (!state_->temporary.empty()) fs::remove(state_->temporary, ignored);  // while its lock is held
}

void AtomicFile::append(std::span<const std::byte> data) {
  if (state_->may_queue && position() + data.size() >= State::queued_from) state_->start_queue();
  state_->append(data);
}

void AtomicFile::expect(uint64_t bytes) {
  State& s = *state_;
  s.expected = bytes;
  if (!is_named()) return;
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

namespace {
// What sink() gives: put() knows it again.
struct FileSink {
  Sink append;
  std::function<bool(const FilePlace& from, uint64_t length)> append_from;
  void operator()(std::span<const std::byte> data) const { append(data); }
};
}  // namespace

Sink AtomicFile::sink() {
  return FileSink{[this](std::span<const std::byte> data) { append(data); },
                  [s = state_.get()](const FilePlace& from, uint64_t length) { return s->append_from(from, length); }};
}

void put(const Sink& sink, const Bytes& data) {
  const FilePlace from = file_place(data);
  const auto* to = from.descriptor < 0 ? nullptr : sink.target<FileSink>();
  if (to && to->append_from(from, length_of(data))) return;
  constexpr uint64_t piece_bytes = uint64_t{8} << 20;  // what is read of a file is let go of again
  for (uint64_t at = 0; at < length_of(data); at += piece_bytes) {
    const Bytes piece = data.slice(at, std::min(piece_bytes, length_of(data) - at));
    sink(piece.span());
  }
}

void AtomicFile::hash_contents() {
  invariant(position() == 0, "a file is hashed from its start");
  state_->hash.emplace();
}

uint64_t AtomicFile::content_hash() {
  invariant(state_->hash.has_value(), "the file was to be hashed");
  ContentHash all = *state_->hash;
  if (state_->buffer.used > 0) all.add(state_->buffer.bytes());
  return all.value();
}

bool AtomicFile::is_named() const { return !state_->target.empty(); }
std::string AtomicFile::target() const { return state_->target.string(); }

bool AtomicFile::goes_to(const std::string& path) const {
  if (!is_named() || path == "-") return false;
  const auto settled = [](const fs::path& p) {
    std::error_code code;
    return fs::weakly_canonical(fs::absolute(p, code), code);
  };
  return settled(path) == settled(state_->target);
}

void AtomicFile::go_to(std::string path) {
  invariant(fs::path(path).parent_path() == fs::path(state_->path).parent_path(), "a file stays in its folder");
  state_->target = fs::path(path);
  state_->path = std::move(path);
}

void AtomicFile::give_up() { state_->given_up = true; }

void AtomicFile::finish(bool durable) {
  State& s = *state_;
  invariant(s.stage == State::Stage::writing, "a file is finished once");
  s.drain();
  s.stage = State::Stage::finished;
  require_whole_files();
  if (!is_named()) return;
  s.file.take_permissions(s.target.string());
  if (durable && !s.file.sync()) s.fail(errno);
  if (!s.file.settle()) s.fail(errno);
}

void AtomicFile::publish() {
  State& s = *state_;
  invariant(s.stage == State::Stage::finished, "a file is published once, after it is finished");
  s.stage = State::Stage::published;
  if (!is_named() || s.given_up) return;
  if (s.temporary.empty()) {
    const int code = s.file.give_name(s.target.string());
    if (code == 0) return void(s.is_new = true);
    if (code != EEXIST) s.fail(code);
    s.name_temporary();
  }
  std::error_code code;
  fs::rename(s.temporary, s.target, code);
  if (code) s.fail(code.value());
  s.temporary.clear();
}

Bytes AtomicFile::written() const {
  invariant(state_->stage != State::Stage::writing, "a file is looked at when it is finished");
  return state_->file.map(narrow<size_t>(position()), state_->path);
}

void AtomicFile::take_back() {
  std::error_code ignored;
  if (state_->is_new) fs::remove(state_->target, ignored);
}

void AtomicFile::commit(bool durable) {
  finish(durable);
  publish();
  if (durable && is_named()) sync_folder(state_->target.parent_path().string());
}

}  // namespace cameo::formats
