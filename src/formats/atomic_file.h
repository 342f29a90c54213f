// Files that appear complete or not at all: they are written without a name and get it when they are complete.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "formats/mapped_file.h"

namespace cameo::formats {

// Sequential writer. What was appended appears under `path` at publish() and not before; without it nothing is left
// behind, however the process ends: the file has no name until then where the system has such files (Linux). Elsewhere,
// and for the moment in which a name changes hands, it is NAME.cameo-<16 hex digits>.tmp, locked by its writer: the
// next writer in the folder removes those without a lock.
// "-" is standard output; a path that is a device or a pipe is written directly.
// Throws write.failed; file.changed where what was copied is no longer what it was. A link is followed, an existing
// file's permissions are kept.
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
  // Appends to this file; must not outlive it.
  Sink sink();

  void hash_contents();     // before anything is appended
  uint64_t content_hash();  // of what was appended so far (support/content_hash.h)

  bool is_named() const;                        // it will get a name: no stream, no device
  std::string target() const;                   // the path, links followed
  bool goes_to(const std::string& path) const;  // that is its name, however it is spelt
  void go_to(std::string path);                 // another name in the same folder, before publish()
  void give_up();  // publish() will do nothing: what it would have written is there already

  // Everything that may fail except giving the name; `durable` waits for the disk. Once, after the last append().
  void finish(bool durable = false);
  void publish();                     // the name; once, after finish()
  Bytes written() const;              // what it holds, after finish()
  void take_back();                   // removes a file that publish() made where there was none
  void commit(bool durable = false);  // both, and the folder on the disk too where durable

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cameo::formats
