// How far a long call has come, and stopping it.
//
//   cameo::simplify(model, {.progress = [](const char* what, uint64_t done, uint64_t all) { return !window.closed();
//   }});
#pragma once

#include <cstdint>
#include <functional>

namespace cameo {

// Called now and then on the caller's thread. `all` may grow. False stops the call with budget.interrupted, and nothing
// is left behind.
using Progress = std::function<bool(const char* what, uint64_t done, uint64_t all)>;

}  // namespace cameo
