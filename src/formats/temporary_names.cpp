#include "formats/temporary_names.h"

#include <atomic>
#include <chrono>
#include <filesystem>

#include "formats/file_handle.h"
#include "support/content_hash.h"
#include "support/error.h"
#include "support/random.h"

namespace cameo::formats {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view mark = ".cameo-", ending = ".tmp";

bool is_temporary_name(std::string_view name) {
  constexpr size_t digits = 16;
  if (name.size() <= mark.size() + digits + ending.size() || !name.ends_with(ending)) return false;
  name.remove_suffix(ending.size());
  const std::string_view number = name.substr(name.size() - digits);
  name.remove_suffix(digits);
  return name.ends_with(mark) && number.find_first_not_of("0123456789abcdef") == number.npos;
}

void remove_if_dead(const fs::path& path) {
  FileHandle file = FileHandle::open_below(path.parent_path().string(), path.filename().string());
  if (!file.valid() || !file.is_plain() || file.try_lock() != FileHandle::Lock::taken) return;
  // Its writer may have renamed it just before it released the lock: then the name does not exist any more.
  std::error_code ignored;
  if (file.is_at(path.string())) fs::remove(path, ignored);
}

}  // namespace

std::string temporary_name(const std::string& target) {
  static std::atomic<uint64_t> count{0};
  const auto now = static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  Random random{now ^ FileHandle::process_id() << 40 ^ count.fetch_add(1) << 20};
  return cat(target, mark, hex16(random.next()), ending);
}

void remove_dead_temporaries(const std::string& folder) {
  std::error_code code;
  for (fs::directory_iterator it(folder.empty() ? "." : folder, code), end; !code && it != end; it.increment(code))
    if (is_temporary_name(it->path().filename().string())) remove_if_dead(it->path());
}

}  // namespace cameo::formats
