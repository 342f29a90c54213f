// Threads: OpenMP's where its runtime is installed, shared with oneDNN; one thread elsewhere.
#pragma once

#include <cstdint>
#include <type_traits>

#include "support/layers.h"

namespace cameo::engine {

int hardware_threads();  // what a session uses unless told
int current_threads();

// How many threads parallel work of the calling thread may use, for as long as this lives.
class ThreadScope {
 public:
  explicit ThreadScope(int threads);
  ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;

 private:
  int before_;
};

void parallel_ranges(int64_t count, int64_t grain, void (*call)(void*, int64_t, int64_t), void* f);

// Calls f(first, last) over [0, count) in pieces of at least `grain`, on the threads of the scope.
template <class F>
void parallel(int64_t count, int64_t grain, F&& f) {
  parallel_ranges(
      count, grain,
      [](void* p, int64_t first, int64_t last) { (*static_cast<std::remove_reference_t<F>*>(p))(first, last); }, &f);
}

}  // namespace cameo::engine
