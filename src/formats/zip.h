// Zip archives: PyTorch's containers and NumPy's npz. Stored and deflated entries, zip64, no encryption, one disk.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/mapped_file.h"
#include "support/bytes.h"

namespace cameo::zip {

enum class Method : uint16_t { stored = 0, deflated = 8 };

struct Entry {
  std::string name;
  uint64_t header_offset = 0;  // of the local header, in the file
  uint64_t data_offset = 0;    // of the first data byte, in the file
  uint64_t packed_size = 0;    // as it stands in the file
  uint64_t size = 0;           // once unpacked
  uint32_t crc = 0;            // of the unpacked bytes; 0 from writers that skip it
  Method method = Method::stored;
};

struct Limits {
  uint64_t entries = 4'000'000;
  // All entries together may unpack to this much, or to `ratio` times the file's size if that is more.
  uint64_t unpacked_bytes = uint64_t{4} << 30;
  uint64_t ratio = 20;
};

enum class Crc : uint8_t { ignore, check };

// The directory of an archive, wholly checked: every entry lies inside the file, none overlaps another, names are
// unique. Reading an entry can then fail only where its deflated data or its checksum is wrong.
class Archive {
 public:
  // `path` is only for messages. Throws file.not-zip, file.damaged, file.too-large, file.unsupported.
  Archive(Bytes file, std::string path, Limits limits = {});

  const std::vector<Entry>& entries() const { return entries_; }  // in the order of the directory
  const Entry* find(std::string_view name) const;
  // The folder that all entries share ("net" of "net/data.pkl"), whatever it is called; empty when there is none.
  std::string_view top_folder() const;

  // A stored entry is a slice of the file, a deflated one is unpacked into new memory.
  Bytes read(const Entry& entry, Crc crc = Crc::ignore) const;

  const Bytes& file() const { return file_; }
  const std::string& path() const { return path_; }

 private:
  Bytes file_;
  std::string path_;
  std::vector<Entry> entries_;
  std::vector<uint32_t> by_name_;  // indices of entries_, sorted by name
};

// Whether bytes look like a zip archive with at least one entry.
bool looks_like_zip(std::string_view head);

// Writes stored entries in order, with no time stamps: the same entries give the same bytes.
class Writer {
 public:
  // `alignment` (a power of two up to 4096, or 0) is what each entry's data is aligned to from the start of the file.
  explicit Writer(Sink out, uint32_t alignment = 0);
  // The entry's bytes are `parts`, one after the other. Precondition: the name is new.
  void add(std::string_view name, std::span<const std::span<const std::byte>> parts);
  void add(std::string_view name, std::string_view data);
  void finish();  // the directory; call once, last
  uint64_t position() const { return position_; }

 private:
  void put(std::string_view bytes);
  Sink out_;
  uint32_t alignment_;
  uint64_t position_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace cameo::zip
