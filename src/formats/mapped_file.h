// Files as bytes: read by mapping, written beside the target and renamed, so that nobody sees half a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "support/bytes.h"

namespace cameo {

// Where a writer puts its bytes, in order.
using Sink = std::function<void(std::span<const std::byte>)>;

std::span<const std::byte> as_bytes(std::string_view text);

// The file's contents, mapped where the system can; "-" is standard input, pipes are read to their end.
// Throws file.missing, file.unreadable, file.not-regular, file.too-large (more than an address space holds).
Bytes map_file(const std::string& path);

// The same of a file that somebody else named: `below`, seen from `folder`, through no link. What is checked is what is
// opened. Throws file.not-regular also for a file with a second name, file.unreadable for links.
Bytes map_file_below(const std::string& folder, const std::string& below);

// As map_file, always copied into memory: for parts that must survive the file being overwritten.
Bytes read_file(const std::string& path);

// Sequential writer. What was appended appears under `path` at commit() and not before; without commit() nothing is
// left behind. "-" is standard output; a path that is a device or a pipe is written directly.
// Throws write.failed; a link is followed, an existing file's permissions are kept.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void append(std::span<const std::byte> data);
  void append(std::string_view text) { append(as_bytes(text)); }
  void expect(uint64_t bytes);      // how much will come in all, where that is known: a hint
  void pad_to(uint64_t alignment);  // zero bytes up to a multiple of `alignment`
  uint64_t position() const;
  // `durable` waits until the disk has the file and its name. Call once.
  void commit(bool durable = false);
  // Appends to this file; must not outlive it.
  Sink sink();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cameo
