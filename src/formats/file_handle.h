// One open file. POSIX calls where they exist, C streams elsewhere; chosen in file_handle.cpp and nowhere else.
// Calls report failure by their result and errno: the callers know the words for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "support/bytes.h"

namespace cameo {

class Mapping;  // a mapped file that is still open; file_handle.cpp

// Where in a mapped file some bytes lie: they can be read from there without a page of it being mapped. `file` is null where
// they are in no such file.
struct MappedRange {
  std::shared_ptr<const Mapping> file;
  uint64_t offset = 0, size = 0;
};
MappedRange mapped_range(std::span<const std::byte> view);
// Reads from the range's start without mapping anything: at least one byte of a range that has some, negative on failure.
std::ptrdiff_t read_range(const MappedRange& from, std::span<std::byte> into);

// The mapped pages of these bytes need not stay in memory. Looking at them again brings them back.
void release_pages(std::span<const std::byte> view);

class FileHandle {
 public:
  FileHandle() = default;
  FileHandle(FileHandle&& other) noexcept { *this = std::move(other); }
  FileHandle& operator=(FileHandle&& other) noexcept;
  ~FileHandle() { close(); }

  static FileHandle open_for_reading(const std::string& path);
  // `below`, seen from `folder`: each part is opened from the one before and none through a link, so that what a
  // caller then asks of the handle holds for what it reads, whoever renames files meanwhile. Does not wait for pipes.
  static FileHandle open_below(const std::string& folder, const std::string& below);
  // `fresh`: the file must not exist yet.
  static FileHandle open_for_writing(const std::string& path, bool fresh);
  static FileHandle standard_input();
  static FileHandle standard_output();
  static uint64_t process_id();

  bool valid() const { return handle_ != none; }
  uint64_t size() const;                              // of a regular file
  bool is_plain() const;                              // a regular file with one name; true where nobody can tell
  bool same_file(const FileHandle& other) const;  // both are open on it
  std::ptrdiff_t read(std::span<std::byte> into);     // 0 at the end, negative on failure
  std::ptrdiff_t write(std::span<const std::byte> d);
  int write_all(std::span<const std::byte> d);  // 0, or the system's code of what went wrong
  // So much is about to be written: the system may look for the room in one go. A hint.
  void expect(uint64_t bytes);
  Bytes map(size_t length) const;                     // empty when the system cannot map
  bool sync();
  bool close();

 private:
  static constexpr std::intptr_t none = -1;
  FileHandle(std::intptr_t handle, bool owned) : handle_(handle), owned_(owned) {}
  std::intptr_t handle_ = none;  // a descriptor, or a FILE*
  bool owned_ = false;
};

// Makes a rename in `folder` durable; empty is the current folder.
void sync_folder(const std::string& folder);

}  // namespace cameo
