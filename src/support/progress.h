// How far the work of this thread has come, told to the caller's Progress (cameo/progress.h).
#pragma once

#include <cstdint>

#include "cameo/progress.h"
#include "support/error.h"

namespace cameo::support {

// While it lives, work of this thread tells `progress`, which has to outlive it. Scopes nest: the innermost that is not
// empty is told, so that a call inside another one needs none of its own.
class ProgressScope {
 public:
  explicit ProgressScope(const Progress& progress);
  ~ProgressScope();
  ProgressScope(const ProgressScope&) = delete;
  ProgressScope& operator=(const ProgressScope&) = delete;

 private:
  const Progress* outer_;
};

// A checkpoint, too. Throws budget.interrupted where the caller wants no more. `all` 0: not known.
void tell_progress(const char* what, uint64_t done, uint64_t all);

// budget.interrupted or budget.time: the work has to end. Whoever catches errors of a trial throws these on, since they
// say nothing about the model.
bool ends_work(const Error& e);

}  // namespace cameo::support
