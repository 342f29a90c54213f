// A team of threads that waits for parallel work, for places without OpenMP's: a browser's tab that may have threads.
// Where the system gives fewer threads than were asked for, or none, or late, the callers do the work of those that are
// missing.
#pragma once

#include <condition_variable>
#include <mutex>

#include "support/layers.h"

namespace cameo::engine {

class ThreadPool {
 public:
  // Its threads are never ended: a pool lives as long as the process.
  explicit ThreadPool(int threads);
  ThreadPool(const ThreadPool&) = delete;

  int threads() const { return threads_; }  // with the one that calls
  // Calls work(p, 0, team) to work(p, team - 1, team), each once, on any of the threads; `work` must not throw.
  void run(void (*work)(void* p, int part, int team), void* p, int team);
  // Whether the calling thread does a part of some work now.
  static bool inside();

 private:
  struct Job;
  void serve();
  void take_parts(Job& job, std::unique_lock<std::mutex>& lock);

  const int threads_;
  std::mutex mutex_;
  std::condition_variable begun_, ended_;
  Job* job_ = nullptr;
};

}  // namespace cameo::engine
