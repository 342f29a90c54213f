// Which handles of include/cameo/c.h are there, so that one that was released, or is of another kind, is told.
#include <mutex>
#include <unordered_map>

#include "api/c_calls.h"

namespace cameo::faces {

namespace {

std::mutex guard;
std::unordered_map<const void*, const char*>& handles() {
  static auto& all =
      *new std::unordered_map<const void*, const char*>;  // programs may release handles at their very end
  return all;
}

}  // namespace

void remember(const void* handle, const char* kind) {
  const std::lock_guard lock(guard);
  handles().insert_or_assign(handle, kind);
}

bool is_there(const void* handle, const char* kind) {
  const std::lock_guard lock(guard);
  const auto it = handles().find(handle);
  return it != handles().end() && it->second == kind;
}

bool forget(const void* handle, const char* kind) {
  const std::lock_guard lock(guard);
  const auto it = handles().find(handle);
  if (it == handles().end() || it->second != kind) return false;
  handles().erase(it);
  return true;
}

Error not_there(std::string_view what) {
  return error("use.handle", cat(what, " was released already, or is no such handle"))
      .help("release each handle once, after its last use, by the function of its kind");
}

}  // namespace cameo::faces
