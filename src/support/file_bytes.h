// Bytes of files that may be larger than memory, where files are read in pieces (pieced_bytes.h): questions that do not
// read them. Where files are mapped all bytes are in memory.
#pragma once

#include "support/bytes.h"

namespace cameo::support {

#if CAMEO_PIECES
inline uint64_t length_of(const Bytes& b) { return b.length(); }
inline bool in_memory(const Bytes& b) { return b.in_memory(); }
// Where they are: memory and all files lie in one space of addresses, so that places can be compared.
inline uint64_t place_of(const Bytes& b) { return b.place(); }
#else
inline uint64_t length_of(const Bytes& b) { return b.size(); }
constexpr bool in_memory(const Bytes&) { return true; }
inline uint64_t place_of(const Bytes& b) { return reinterpret_cast<uintptr_t>(b.data()); }
#endif

}  // namespace cameo::support
