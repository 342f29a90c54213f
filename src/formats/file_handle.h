// One open file. POSIX calls where they exist, C streams elsewhere; chosen in file_handle.cpp and nowhere else.
// Calls report failure by their result and errno; the callers make the message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "formats/mapping.h"

namespace cameo::formats {

class FileHandle {
 public:
  FileHandle() = default;
  FileHandle(FileHandle&& other) noexcept { *this = std::move(other); }
  FileHandle& operator=(FileHandle&& other) noexcept;
  ~FileHandle() { close(); }

  static FileHandle open_for_reading(const std::string& path);
  // `below`, seen from `folder`: each part is opened from the one before and none through a link, so that what a
  // caller then asks of the handle is true of what it reads, even if files are renamed. Does not wait for pipes.
  static FileHandle open_below(const std::string& folder, const std::string& below);
  // `fresh`: the file must not exist yet.
  static FileHandle open_for_writing(const std::string& path, bool fresh);
  // A new file in `folder` that has no name until it is given one, and is gone with its handle if it never is. Invalid
  // where the system has no such files.
  static FileHandle open_unnamed(const std::string& folder);
  static FileHandle open_folder(const std::string& folder);  // for its lock; empty is the current folder
  static FileHandle standard_input();
  static FileHandle standard_output();
  static uint64_t process_id();

  bool valid() const { return handle_ != none; }
  uint64_t size() const;                          // of a regular file
  bool is_plain() const;                          // a regular file with one name; true if the system cannot tell
  bool same_file(const FileHandle& other) const;  // both are open on it
  bool is_at(const std::string& path) const;      // the path itself, not through a link, names this file
  // Equal for one file that did not change in between; empty if there is none or the system cannot tell.
  static std::string identity(const std::string& path);
  std::ptrdiff_t read(std::span<std::byte> into);  // 0 at the end, negative on failure
  std::ptrdiff_t write(std::span<const std::byte> d);
  int write_all(std::span<const std::byte> d);  // 0, or the system's code of what went wrong
  // Appends bytes of another file by reference, which takes no time. False where the system cannot: nothing is written.
  bool append_from(const FilePlace& from, uint64_t length);
  // This much is about to be written: the system may reserve the space at once. A hint.
  void expect(uint64_t bytes);
  // Empty when the system cannot map; `name` is what findings call the file.
  Bytes map(uint64_t length, const std::string& name) const { return map_open_file(handle_, length, name); }
  int give_name(
      const std::string& path);  // of an unnamed file: 0, or the system's code, EEXIST for a name that is taken
  void take_permissions(const std::string& of);  // as far as that file is there and the system lets us
  // The system releases a lock when its owner ends, however that ends. `none`: this file cannot be locked.
  enum class Lock : uint8_t { taken, busy, none };
  Lock try_lock();
  bool settle();  // what some file systems say only when a file is closed; it stays open
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

}  // namespace cameo::formats
