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

std::ptrdiff_t FileHandle::read(std::span<std::byte> into) {
  return retried([&] { return ::read(descriptor(handle_), into.data(), std::min(into.size(), call_bytes)); });
}

std::ptrdiff_t FileHandle::write(std::span<const std::byte> d) {
  return retried([&] { return ::write(descriptor(handle_), d.data(), std::min(d.size(), call_bytes)); });
}

Bytes FileHandle::map(size_t length) const {
  void* at = ::mmap(nullptr, length, PROT_READ, MAP_PRIVATE, descriptor(handle_), 0);
  if (at == MAP_FAILED) return {};
  std::shared_ptr<const void> owner(at, [length](const void* p) { ::munmap(const_cast<void*>(p), length); });
  return {std::move(owner), {static_cast<const std::byte*>(at), length}};
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

std::ptrdiff_t FileHandle::read(std::span<std::byte> into) {
  const size_t n = std::fread(into.data(), 1, into.size(), stream(handle_));
  return n == 0 && std::ferror(stream(handle_)) ? -1 : static_cast<std::ptrdiff_t>(n);
}

std::ptrdiff_t FileHandle::write(std::span<const std::byte> d) {
  const size_t n = std::fwrite(d.data(), 1, d.size(), stream(handle_));
  return n == 0 ? -1 : static_cast<std::ptrdiff_t>(n);
}

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
