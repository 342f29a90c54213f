// What `cameo simplify` did: operators before and after.
#pragma once

#include <optional>
#include <string>

#include "cameo/simplify.h"
#include "cli/out.h"

namespace cameo::cli {

struct SimplifyReport {
  const Simplified& result;
  std::optional<uint64_t> bytes_before, bytes_after;  // of the files
  double ms = 0;
};
void report_simplified(const SimplifyReport& r, Out& out);

std::optional<uint64_t> file_bytes(const std::string& path);  // nothing for what is not a file

}  // namespace cameo::cli
