// How much a call may take. docs/trust.md lists every budget and its default.
//
//   cameo::LimitScope limits({.seconds = 10, .memory_bytes = 2ull << 30});
//   auto net = cameo::export_model(cameo::load("untrusted.pt"));  // throws budget.time or budget.memory
#pragma once

#include <cstdint>

namespace cameo {

namespace support {
struct LimitWatch;
}

struct Limits {
  double seconds = 0;           // of wall time, from the scope's start; 0: no limit
  uint64_t memory_bytes = 0;    // of tensors, arenas and weights made dense, in the whole process; 0: no limit
  int64_t turns = 100'000'000;  // iterations of one run-time Loop; a larger known count is refused before the first one
  uint64_t steps = 2'000'000;   // statements of a program that export_model runs, loops that are simply run included
};

// While it lives, calls of this thread keep to the limits; beyond them they throw budget.time, .memory, .turns, .steps.
// Scopes nest: the inner one counts.
class LimitScope {
 public:
  explicit LimitScope(const Limits& limits);
  ~LimitScope();
  LimitScope(const LimitScope&) = delete;
  LimitScope& operator=(const LimitScope&) = delete;

 private:
  friend struct support::LimitWatch;
  Limits limits_;
  int64_t deadline_ns_ = 0;  // of the steady clock; 0: none
  uint64_t outer_memory_ = 0;
  LimitScope* outer_ = nullptr;
};

// Every call that is under way, in any thread, throws budget.interrupted soon; so does every later one until resume().
// May be called by a signal handler.
void interrupt() noexcept;
void resume() noexcept;

}  // namespace cameo
