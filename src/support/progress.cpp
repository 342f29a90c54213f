#include "support/progress.h"

#include <exception>

#include "support/budget.h"

namespace cameo::support {

namespace {
constinit thread_local const Progress* told = nullptr;
}

ProgressScope::ProgressScope(const Progress& progress) : outer_(told) {
  if (progress) told = &progress;
}

ProgressScope::~ProgressScope() { told = outer_; }

void tell_progress(const char* what, uint64_t done, uint64_t all) {
  checkpoint();
  if (std::uncaught_exceptions() > 0) return;  // destructors finish
  if (told && !(*told)(what, done, all)) throw error("budget.interrupted", "interrupted");
}

bool ends_work(const Error& e) {
  const std::string& code = e.diag().code;
  return code == "budget.interrupted" || code == "budget.time";
}

}  // namespace cameo::support
