#include "formats/file_handle.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#if (defined(__unix__) || defined(__APPLE__)) && !defined(__EMSCRIPTEN__)
#define CAMEO_POSIX_FILES 1
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mutex>
#include <vector>
#else
#define CAMEO_POSIX_FILES 0
#include <cstdio>
#endif

namespace cameo {

FileHandle& FileHandle::operator=(FileHandle&& other) noexcept {
  if (this == &other) return *this;
  close();
  handle_ = std::exchange(other.handle_, none);
  owned_ = std::exchange(other.owned_, false);
  return *this;
}

int FileHandle::write_all(std::span<const std::byte> d) {
  while (!d.empty()) {
    const auto done = write(d);
    if (done <= 0) return done < 0 ? errno : EIO;
    d = d.subspan(static_cast<size_t>(done));
  }
  return 0;
}

#if CAMEO_POSIX_FILES

namespace {
// Linux moves at most this much per call.
constexpr size_t call_bytes = size_t{1} << 30;

template <class Call>
std::ptrdiff_t retried(Call call) {
  for (;;)
    if (const auto n = call(); n >= 0 || errno != EINTR) return n;
}
int descriptor(std::intptr_t handle) { return static_cast<int>(handle); }
}  // namespace

FileHandle FileHandle::open_for_reading(const std::string& path) {
  return {::open(path.c_str(), O_RDONLY | O_CLOEXEC), true};
}

FileHandle FileHandle::open_below(const std::string& folder, const std::string& below) {
  FileHandle at{::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECTORY), true};
  for (const auto& part : std::filesystem::path(below)) {
    if (!at.valid()) break;
    if (part.empty() || part == ".") continue;
    at = {::openat(descriptor(at.handle_), part.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), true};
  }
  return at;
}

FileHandle FileHandle::open_for_writing(const std::string& path, bool fresh) {
  return {::open(path.c_str(), O_WRONLY | O_CLOEXEC | (fresh ? O_CREAT | O_EXCL : 0), 0666), true};
}

FileHandle FileHandle::standard_input() { return {STDIN_FILENO, false}; }
FileHandle FileHandle::standard_output() { return {STDOUT_FILENO, false}; }
uint64_t FileHandle::process_id() { return static_cast<uint64_t>(::getpid()); }

uint64_t FileHandle::size() const {
  struct stat info {};
  return ::fstat(descriptor(handle_), &info) == 0 ? static_cast<uint64_t>(info.st_size) : 0;
}

bool FileHandle::is_plain() const {
  struct stat info {};
  return ::fstat(descriptor(handle_), &info) == 0 && S_ISREG(info.st_mode) && info.st_nlink <= 1;
}

bool FileHandle::same_file(const FileHandle& other) const {
  struct stat mine {}, theirs {};
  return ::fstat(descriptor(handle_), &mine) == 0 && ::fstat(descriptor(other.handle_), &theirs) == 0 && mine.st_dev == theirs.st_dev && mine.st_ino == theirs.st_ino;
}

std::ptrdiff_t FileHandle::read(std::span<std::byte> into) {
  return retried([&] { return ::read(descriptor(handle_), into.data(), std::min(into.size(), call_bytes)); });
}

std::ptrdiff_t FileHandle::write(std::span<const std::byte> d) {
  return retried([&] { return ::write(descriptor(handle_), d.data(), std::min(d.size(), call_bytes)); });
}

class Mapping {
 public:
  Mapping(void* start, size_t bytes, int open_file) : at(static_cast<const std::byte*>(start)), length(bytes), file(open_file) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();

  bool holds(std::span<const std::byte> view) const {
    return view.data() >= at && view.data() < at + length && view.size() <= static_cast<size_t>(at + length - view.data());
  }

  const std::byte* const at;
  const size_t length;
  const int file;  // stays open so that parts of it can be copied; -1: not
};

namespace {
// Files that are mapped, large enough to be worth an open descriptor each, and few, since a system has not many.
constexpr size_t open_from_bytes = size_t{1} << 20, most_open = 64;

struct OpenMappings {
  std::mutex mutex;
  std::vector<std::weak_ptr<const Mapping>> list;

  void drop_dead() { std::erase_if(list, [](const auto& m) { return m.expired(); }); }
};
OpenMappings& open_mappings() {
  static OpenMappings all;
  return all;
}
}  // namespace

Mapping::~Mapping() {
  ::munmap(const_cast<std::byte*>(at), length);
  if (file >= 0) ::close(file);
}

Bytes FileHandle::map(size_t length) const {
  void* at = ::mmap(nullptr, length, PROT_READ, MAP_PRIVATE, descriptor(handle_), 0);
  if (at == MAP_FAILED) return {};
  OpenMappings& all = open_mappings();
  const std::lock_guard lock(all.mutex);
  all.drop_dead();
  const bool kept_open = length >= open_from_bytes && all.list.size() < most_open;
  const auto owner = std::make_shared<const Mapping>(at, length, kept_open ? ::fcntl(descriptor(handle_), F_DUPFD_CLOEXEC, 0) : -1);
  if (owner->file >= 0) all.list.push_back(owner);
  return {owner, {owner->at, length}};
}

MappedRange mapped_range(std::span<const std::byte> view) {
  OpenMappings& all = open_mappings();
  const std::lock_guard lock(all.mutex);
  for (const auto& weak : all.list)
    if (auto m = weak.lock(); m && m->holds(view)) return {m, static_cast<uint64_t>(view.data() - m->at), view.size()};
  return {};
}

void release_pages(std::span<const std::byte> view) {
  const MappedRange range = mapped_range(view);
  if (!range.file) return;
  // Whole pages inside: the neighbours' share of the first and the last one may be in use.
  static const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  const uint64_t first = (range.offset + page - 1) / page * page, last = (range.offset + range.size) / page * page;
  if (first < last) ::madvise(const_cast<std::byte*>(range.file->at) + first, static_cast<size_t>(last - first), MADV_DONTNEED);
}

std::ptrdiff_t read_range(const MappedRange& from, std::span<std::byte> into) {
  const auto length = static_cast<size_t>(std::min<uint64_t>({from.size, into.size(), call_bytes}));
  const auto got = retried([&] { return ::pread(from.file->file, into.data(), length, static_cast<off_t>(from.offset)); });
  if (got == 0 && length > 0) errno = EIO;  // somebody cut the file short
  return got <= 0 ? -1 : got;
}

void FileHandle::expect([[maybe_unused]] uint64_t bytes) {
#if defined(__linux__)
  ::fallocate(descriptor(handle_), FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes));  // not every file system can
#endif
}

bool FileHandle::sync() { return ::fsync(descriptor(handle_)) == 0; }

bool FileHandle::close() {
  const auto handle = std::exchange(handle_, none);
  return handle == none || !std::exchange(owned_, false) || ::close(descriptor(handle)) == 0;
}

void sync_folder(const std::string& folder) {
  const int d = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (d < 0) return;
  ::fsync(d);
  ::close(d);
}

#else

namespace {
std::FILE* stream(std::intptr_t handle) { return reinterpret_cast<std::FILE*>(handle); }
std::intptr_t wrap(std::FILE* f) { return f ? reinterpret_cast<std::intptr_t>(f) : -1; }
}  // namespace

FileHandle FileHandle::open_for_reading(const std::string& path) { return {wrap(std::fopen(path.c_str(), "rb")), true}; }
FileHandle FileHandle::open_below(const std::string& folder, const std::string& below) {
  return open_for_reading((std::filesystem::path(folder) / below).string());
}
FileHandle FileHandle::open_for_writing(const std::string& path, bool fresh) {
  return {wrap(std::fopen(path.c_str(), fresh ? "wbx" : "wb")), true};
}
FileHandle FileHandle::standard_input() { return {wrap(stdin), false}; }
FileHandle FileHandle::standard_output() { return {wrap(stdout), false}; }
uint64_t FileHandle::process_id() { return 0; }

uint64_t FileHandle::size() const { return 0; }
bool FileHandle::is_plain() const { return true; }
bool FileHandle::same_file(const FileHandle&) const { return true; }

std::ptrdiff_t FileHandle::read(std::span<std::byte> into) {
  const size_t n = std::fread(into.data(), 1, into.size(), stream(handle_));
  return n == 0 && std::ferror(stream(handle_)) ? -1 : static_cast<std::ptrdiff_t>(n);
}

std::ptrdiff_t FileHandle::write(std::span<const std::byte> d) {
  const size_t n = std::fwrite(d.data(), 1, d.size(), stream(handle_));
  return n == 0 ? -1 : static_cast<std::ptrdiff_t>(n);
}

class Mapping {};
MappedRange mapped_range(std::span<const std::byte>) { return {}; }
void release_pages(std::span<const std::byte>) {}
std::ptrdiff_t read_range(const MappedRange&, std::span<std::byte>) { return -1; }
void FileHandle::expect(uint64_t) {}
Bytes FileHandle::map(size_t) const { return {}; }
bool FileHandle::sync() { return std::fflush(stream(handle_)) == 0; }

bool FileHandle::close() {
  const auto handle = std::exchange(handle_, none);
  if (handle == none) return true;
  return (std::exchange(owned_, false) ? std::fclose(stream(handle)) : std::fflush(stream(handle))) == 0;
}

void sync_folder(const std::string&) {}

#endif

}  // namespace cameo
