#include "formats/file_handle.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "formats/posix_files.h"
#include "support/error.h"

#if CAMEO_POSIX_FILES
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#else
#include <cstdio>
#endif
#if defined(__EMSCRIPTEN__)
#include <emscripten.h>

EM_JS(int, join_slice, (int to, int from, double offset, double length),
      { return Module.joinSlice && Module.joinSlice(to, from, offset, length) ? 1 : 0; });
#endif

namespace cameo::formats {

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
const char* or_here(const std::string& folder) { return folder.empty() ? "." : folder.c_str(); }
}  // namespace

FileHandle FileHandle::open_for_reading(const std::string& path) {
  return {::open(path.c_str(), O_RDONLY | O_CLOEXEC), true};
}

FileHandle FileHandle::open_below(const std::string& folder, const std::string& below) {
  FileHandle at{::open(or_here(folder), O_RDONLY | O_CLOEXEC | O_DIRECTORY), true};
  for (const auto& part : std::filesystem::path(below)) {
    if (!at.valid()) break;
    if (part.empty() || part == ".") continue;
    at = {::openat(descriptor(at.handle_), part.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), true};
  }
  return at;
}

FileHandle FileHandle::open_for_writing(const std::string& path, bool fresh) {
  return {::open(path.c_str(), (fresh ? O_RDWR | O_CREAT | O_EXCL : O_WRONLY) | O_CLOEXEC, 0666), true};
}

FileHandle FileHandle::open_unnamed([[maybe_unused]] const std::string& folder) {
#if defined(O_TMPFILE)
  // A name is given through /proc: where that is not mounted, such a file could never get one.
  static const bool can_name = ::access("/proc/self/fd", X_OK) == 0;
  if (can_name) return {::open(or_here(folder), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666), true};
#endif
  return {};
}

FileHandle FileHandle::open_folder(const std::string& folder) {
  return {::open(or_here(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC), true};
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
  struct stat mine {
  }, theirs{};
  return ::fstat(descriptor(handle_), &mine) == 0 && ::fstat(descriptor(other.handle_), &theirs) == 0 &&
         mine.st_dev == theirs.st_dev && mine.st_ino == theirs.st_ino;
}

bool FileHandle::is_at(const std::string& path) const {
  struct stat mine {
  }, there{};
  return ::fstat(descriptor(handle_), &mine) == 0 && ::lstat(path.c_str(), &there) == 0 &&
         mine.st_dev == there.st_dev && mine.st_ino == there.st_ino;
}

std::string FileHandle::identity(const std::string& path) {
  struct stat s {};
  if (::stat(path.c_str(), &s) != 0) return "";
#if defined(__APPLE__)
  const auto& changed = s.st_mtimespec;
#else
  const auto& changed = s.st_mtim;
#endif
  return cat(static_cast<uint64_t>(s.st_dev), " ", static_cast<uint64_t>(s.st_ino), " ", s.st_size, " ", changed.tv_sec,
             ".", changed.tv_nsec);
}

std::ptrdiff_t FileHandle::read(std::span<std::byte> into) {
  return retried([&] { return ::read(descriptor(handle_), into.data(), std::min(into.size(), call_bytes)); });
}

std::ptrdiff_t FileHandle::write(std::span<const std::byte> d) {
  return retried([&] { return ::write(descriptor(handle_), d.data(), std::min(d.size(), call_bytes)); });
}

bool FileHandle::append_from(const FilePlace&, uint64_t) { return false; }

void FileHandle::expect([[maybe_unused]] uint64_t bytes) {
#if defined(__linux__)
  ::fallocate(descriptor(handle_), FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes));  // not every file system can
#endif
}

int FileHandle::give_name(const std::string& path) {
  const std::string link = cat("/proc/self/fd/", handle_);
  return ::linkat(AT_FDCWD, link.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

void FileHandle::take_permissions(const std::string& of) {
  struct stat there {};
  if (::stat(of.c_str(), &there) == 0 && S_ISREG(there.st_mode))
    static_cast<void>(::fchmod(descriptor(handle_), there.st_mode & 07777));
}

FileHandle::Lock FileHandle::try_lock() {
  if (retried([&] { return ::flock(descriptor(handle_), LOCK_EX | LOCK_NB); }) == 0) return Lock::taken;
  return errno == EWOULDBLOCK ? Lock::busy : Lock::none;
}

bool FileHandle::settle() {
  const int again = ::fcntl(descriptor(handle_), F_DUPFD_CLOEXEC, 0);
  return again < 0 || ::close(again) == 0;
}

bool FileHandle::sync() { return ::fsync(descriptor(handle_)) == 0; }

bool FileHandle::close() {
  const auto handle = std::exchange(handle_, none);
  return handle == none || !std::exchange(owned_, false) || ::close(descriptor(handle)) == 0;
}

void sync_folder(const std::string& folder) {
  const int d = ::open(or_here(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (d < 0) return;
  ::fsync(d);
  ::close(d);
}

#else

namespace {
std::FILE* stream(std::intptr_t handle) { return reinterpret_cast<std::FILE*>(handle); }
std::intptr_t wrap(std::FILE* f) { return f ? reinterpret_cast<std::intptr_t>(f) : -1; }
}  // namespace

FileHandle FileHandle::open_for_reading(const std::string& path) {
  return {wrap(std::fopen(path.c_str(), "rb")), true};
}
FileHandle FileHandle::open_below(const std::string& folder, const std::string& below) {
  return open_for_reading((std::filesystem::path(folder) / below).string());
}
FileHandle FileHandle::open_for_writing(const std::string& path, bool fresh) {
  return {wrap(std::fopen(path.c_str(), fresh ? "wbx" : "wb")), true};
}
FileHandle FileHandle::open_unnamed(const std::string&) { return {}; }
FileHandle FileHandle::open_folder(const std::string&) { return {}; }
FileHandle FileHandle::standard_input() { return {wrap(stdin), false}; }
FileHandle FileHandle::standard_output() { return {wrap(stdout), false}; }
uint64_t FileHandle::process_id() { return 0; }

uint64_t FileHandle::size() const {
  const auto at = ::ftello(stream(handle_));
  if (at < 0 || ::fseeko(stream(handle_), 0, SEEK_END) != 0) return 0;
  const auto end = ::ftello(stream(handle_));
  ::fseeko(stream(handle_), at, SEEK_SET);
  return end < 0 ? 0 : static_cast<uint64_t>(end);
}
bool FileHandle::is_plain() const { return true; }
bool FileHandle::same_file(const FileHandle&) const { return true; }
bool FileHandle::is_at(const std::string&) const { return true; }
std::string FileHandle::identity(const std::string&) { return ""; }

std::ptrdiff_t FileHandle::read(std::span<std::byte> into) {
  const size_t n = std::fread(into.data(), 1, into.size(), stream(handle_));
  return n == 0 && std::ferror(stream(handle_)) ? -1 : static_cast<std::ptrdiff_t>(n);
}

std::ptrdiff_t FileHandle::write(std::span<const std::byte> d) {
  const size_t n = std::fwrite(d.data(), 1, d.size(), stream(handle_));
  return n == 0 ? -1 : static_cast<std::ptrdiff_t>(n);
}

// In a tab files are Blobs, and a Blob may be made of slices of others.
bool FileHandle::append_from([[maybe_unused]] const FilePlace& from, [[maybe_unused]] uint64_t length) {
#if defined(__EMSCRIPTEN__)
  return std::fflush(stream(handle_)) == 0 &&
         join_slice(::fileno(stream(handle_)), from.descriptor, static_cast<double>(from.offset),
                    static_cast<double>(length)) != 0;
#else
  return false;
#endif
}

void FileHandle::expect(uint64_t) {}
int FileHandle::give_name(const std::string&) { return ENOSYS; }
void FileHandle::take_permissions(const std::string&) {}
FileHandle::Lock FileHandle::try_lock() { return Lock::none; }
bool FileHandle::settle() { return std::fflush(stream(handle_)) == 0; }
bool FileHandle::sync() { return std::fflush(stream(handle_)) == 0; }

bool FileHandle::close() {
  const auto handle = std::exchange(handle_, none);
  if (handle == none) return true;
  return (std::exchange(owned_, false) ? std::fclose(stream(handle)) : std::fflush(stream(handle))) == 0;
}

void sync_folder(const std::string&) {}

#endif

}  // namespace cameo::formats
