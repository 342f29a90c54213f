#include "engine/parallel.h"

#include <algorithm>
#include <exception>
#include <mutex>

#include "support/shared_library.h"

#include "engine/thread_pool.h"

#ifdef __EMSCRIPTEN__
#include <emscripten/threading.h>
#endif

namespace cameo::engine {

namespace {

// OpenMP's runtime as oneDNN uses it, loaded by the first session: linking it would cost every start of the command
// half a millisecond. Null pointers where it is not there: one thread does all.
struct OpenMp {
  int (*max_threads)() = nullptr;
  void (*set_threads)(int) = nullptr;
  int (*in_parallel)() = nullptr;
  int (*thread)() = nullptr;
  int (*team)() = nullptr;
  int (*processors)() = nullptr;
  void (*run)(void (*)(void*), void*, unsigned, unsigned) = nullptr;  // what compilers make of `#pragma omp parallel`
  bool there = false;
};

OpenMp load() {
  OpenMp o;
#ifdef CAMEO_OPENMP
  const SharedLibrary library("libgomp.so.1");
  o.there = library.find(o.max_threads, "omp_get_max_threads") && library.find(o.set_threads, "omp_set_num_threads") &&
            library.find(o.in_parallel, "omp_in_parallel") && library.find(o.thread, "omp_get_thread_num") &&
            library.find(o.team, "omp_get_num_threads") && library.find(o.processors, "omp_get_num_procs") &&
            library.find(o.run, "GOMP_parallel");
#endif
  return o;
}

const OpenMp& omp() {
  static const OpenMp loaded = load();
  return loaded;
}

// The pool of places without OpenMP; null where there is one thread. A module that is linked without threads says so
// here.
ThreadPool* pool() {
#ifdef __EMSCRIPTEN__
  constexpr int most = 16;  // as many as wasm/CMakeLists.txt has begun
  static ThreadPool* const made =
      emscripten_has_threading_support() ? new ThreadPool(std::min(most, emscripten_num_logical_cores())) : nullptr;
  return made;
#else
  return nullptr;
#endif
}

thread_local int in_scope = 0;  // of the pool; 0: all

// One call of parallel_ranges, for all threads of the team.
struct Work {
  int64_t count, pieces;
  void (*call)(void*, int64_t, int64_t);
  void* f;
  std::mutex mutex;
  std::exception_ptr failed;
};

void work_of(Work& w, int64_t me, int64_t threads) {
  const int64_t team = std::min(threads, w.pieces);
  const int64_t first = w.count * me / team, last = w.count * (me + 1) / team;
  try {
    if (me < team && first < last) w.call(w.f, first, last);
  } catch (...) {
    const std::lock_guard lock(w.mutex);
    w.failed = std::current_exception();
  }
}

bool inside() { return pool() ? ThreadPool::inside() : omp().in_parallel() != 0; }

}  // namespace

int hardware_threads() { return pool() ? pool()->threads() : omp().there ? std::max(1, omp().processors()) : 1; }
int current_threads() {
  if (pool()) return in_scope ? in_scope : pool()->threads();
  return omp().there ? omp().max_threads() : 1;
}

namespace {
void set_threads(int threads) {
  if (pool()) in_scope = std::min(threads, pool()->threads());
  else if (omp().there) omp().set_threads(threads);
}
}  // namespace

ThreadScope::ThreadScope(int threads) : before_(current_threads()) {
  if (threads != before_) set_threads(std::max(1, threads));
}
ThreadScope::~ThreadScope() {
  if (current_threads() != before_) set_threads(before_);
}

void parallel_ranges(int64_t count, int64_t grain, void (*call)(void*, int64_t, int64_t), void* f) {
  const int64_t pieces = std::min<int64_t>(current_threads(), count / std::max<int64_t>(1, grain));
  if (pieces <= 1 || inside()) {
    if (count > 0) call(f, 0, count);
    return;
  }
  Work w{count, pieces, call, f, {}, {}};
  if (pool()) {
    pool()->run([](void* p, int me, int team) { work_of(*static_cast<Work*>(p), me, team); }, &w,
                static_cast<int>(pieces));
  } else {
    // The whole team, though fewer may have something to do: libgomp ends the threads that a smaller team leaves out.
    const auto one = [](void* p) { work_of(*static_cast<Work*>(p), omp().thread(), omp().team()); };
    omp().run(one, &w, static_cast<unsigned>(current_threads()), 0);
  }
  if (w.failed) std::rethrow_exception(w.failed);
}

}  // namespace cameo::engine
