// The directory at the end of a zip archive, and the signatures that reader and writer share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/zip.h"

namespace cameo::zip {

inline constexpr uint32_t local_signature = 0x04034b50, central_signature = 0x02014b50, end_signature = 0x06054b50,
                          end64_signature = 0x06064b50, locator64_signature = 0x07064b50;
inline constexpr uint32_t saturated32 = UINT32_MAX;
inline constexpr uint16_t saturated16 = UINT16_MAX, zip64_extra = 1, utf8_flag = 0x0800, encrypted_flag = 1;

// Every entry with its data found and checked, except that names may not be unique.
std::vector<Entry> read_directory(const Bytes& file, const std::string& path, const Limits& limits);

}  // namespace cameo::zip
