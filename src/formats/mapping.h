// Mapped files: which file and offset some bytes are from, and what happens if the file is cut short meanwhile.
//
// Reading a page that its file no longer has raises SIGBUS, which ends the process. With the first mapping a handler is
// installed: for a page of our mappings it maps zero bytes there, marks the mapping as lost and lets the reader go on;
// code that publishes a result calls lost_files() first.
// Faults anywhere else go to the previous handler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "support/bytes.h"

namespace cameo::formats {

class Mapping;

// Where in a mapped file some bytes lie: they can be read from there without a page of it being mapped. `file` is null
// where they are in no such file.
struct MappedRange {
  std::shared_ptr<const Mapping> file;
  uint64_t offset = 0, size = 0;
};
MappedRange mapped_range(std::span<const std::byte> view);
// Reads from the range's start without mapping anything: at least one byte of a range that has some, 0 where the file
// ends before it, negative on failure.
std::ptrdiff_t read_range(const MappedRange& from, std::span<std::byte> into);
const std::string& name_of(const MappedRange& range);

// The mapped pages of these bytes need not stay in memory. Reading them again brings them back.
void release_pages(std::span<const std::byte> view);

// Maps the whole of an open file; empty where the system cannot. `name` is what findings call it.
Bytes map_open_file(std::intptr_t handle, uint64_t length, const std::string& name);

// Where the bytes of a file lie that is read in pieces (support/pieced_bytes.h). A descriptor below 0: they are in
// memory, or in a mapped file.
struct FilePlace {
  int descriptor = -1;
  uint64_t offset = 0;
};
FilePlace file_place(const Bytes& b);

// Mapped files with bytes that were gone when they were read. Those that are still mapped are named each time, others
// once.
std::vector<std::string> lost_files();
// Mapped files that have, or had when they were unmapped, another size or modification time than when they were mapped.
// As far as they are kept open; those that are no longer mapped are named once.
std::vector<std::string> changed_files();

}  // namespace cameo::formats
