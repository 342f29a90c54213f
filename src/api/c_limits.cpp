// Limits, progress and interruption of include/cameo/c.h.
#include <optional>

#include "api/c_calls.h"
#include "api/settings_json.h"

using namespace cameo;
using namespace cameo::faces;

namespace {

thread_local std::optional<LimitScope> limited;
thread_local cameo_progress_function watcher = nullptr;
thread_local void* watcher_user = nullptr;

}  // namespace

namespace cameo::faces {

Progress watched() {
  if (!watcher) return {};
  return [call = watcher, user = watcher_user](const char* what, uint64_t done, uint64_t all) {
    return call(user, what, done, all) == 0;
  };
}

}  // namespace cameo::faces

cameo_status cameo_limit(const char* limits_json) {
  return guarded([&] {
    const Limits wanted = limits(settings(limits_json));
    limited.reset();
    if (limits_json) limited.emplace(wanted);
  });
}
void cameo_watch(cameo_progress_function progress, void* user) {
  watcher = progress;
  watcher_user = user;
}
void cameo_interrupt(void) { interrupt(); }
void cameo_resume(void) { resume(); }
