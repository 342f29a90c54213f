// Files as bytes, read by mapping. Writing is in formats/atomic_file.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "support/bytes.h"

namespace cameo::formats {

// Where a writer puts its bytes, in order.
using Sink = std::function<void(std::span<const std::byte>)>;

std::span<const std::byte> as_bytes(std::string_view text);

// The file's contents, mapped where the system can; "-" is standard input, pipes are read to their end.
// Throws file.missing, file.unreadable, file.not-regular, file.too-large (more than an address space holds).
Bytes map_file(const std::string& path);

// The same for a file name from an untrusted file: `below`, seen from `folder`, following no link. The opened file
// itself is checked. Throws file.not-regular also for a file with a second name, file.unreadable for links.
Bytes map_file_below(const std::string& folder, const std::string& below);

// As map_file, always copied into memory: for parts that must survive the file being overwritten.
Bytes read_file(const std::string& path);

// Call before a result is published or reported. Throws file.changed, naming the file, if bytes of a mapped file were
// gone when they were read (zeros were read instead).
void require_whole_files();
// The same, and no mapped file was changed at all, as far as its size and time of change tell. For commands, which are
// done with all their files at once; elsewhere a file may be rewritten that another part of the process holds.
void require_unchanged_files();

}  // namespace cameo::formats
