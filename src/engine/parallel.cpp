#include "engine/parallel.h"

#include <algorithm>
#include <exception>
#include <thread>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace cameo::engine {

#ifdef _OPENMP

int hardware_threads() { return std::max(1, omp_get_num_procs()); }
int current_threads() { return omp_get_max_threads(); }
ThreadScope::ThreadScope(int threads) : before_(omp_get_max_threads()) { omp_set_num_threads(std::max(1, threads)); }
ThreadScope::~ThreadScope() { omp_set_num_threads(before_); }

void parallel_ranges(int64_t count, int64_t grain, void (*call)(void*, int64_t, int64_t), void* f) {
  const int64_t pieces = std::min<int64_t>(omp_get_max_threads(), count / std::max<int64_t>(1, grain));
  if (pieces <= 1 || omp_in_parallel()) {
    if (count > 0) call(f, 0, count);
    return;
  }
  std::exception_ptr failed;
#pragma omp parallel num_threads(static_cast<int>(pieces))
  {
    const int64_t team = omp_get_num_threads(), me = omp_get_thread_num();
    const int64_t first = count * me / team, last = count * (me + 1) / team;
    try {
      if (first < last) call(f, first, last);
    } catch (...) {
#pragma omp critical(cameo_engine_failed)
      failed = std::current_exception();
    }
  }
  if (failed) std::rethrow_exception(failed);
}

#else

int hardware_threads() { return 1; }
int current_threads() { return 1; }
ThreadScope::ThreadScope(int) : before_(1) {}
ThreadScope::~ThreadScope() = default;

void parallel_ranges(int64_t count, int64_t, void (*call)(void*, int64_t, int64_t), void* f) {
  if (count > 0) call(f, 0, count);
}

#endif

}  // namespace cameo::engine
