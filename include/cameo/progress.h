// How far a long call has come, and stopping it.
//
//   cameo::export_model(archive, {.progress = [&](const char* what, uint64_t done, uint64_t all) {
//     window.show(what, done, all);
//     return !window.closed();
//   }});
#pragma once

#include <cstdint>
#include <functional>

namespace cameo {

// Called now and then on the caller's thread. `all` may grow; 0: not known. False stops the call with
// budget.interrupted, and nothing is left behind. What it throws itself comes out of the call.
using Progress = std::function<bool(const char* what, uint64_t done, uint64_t all)>;

// While it lives, calls of this thread ask now and then whether to stop; true ends them with budget.interrupted. For
// programs in which another library handles signals (Python). Scopes nest: the inner one is asked.
using StopQuestion = bool (*)();
class StopScope {
 public:
  explicit StopScope(StopQuestion ask);
  ~StopScope();
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

 private:
  StopQuestion outer_;
};

}  // namespace cameo
