#include "engine/thread_pool.h"

#include <algorithm>
#include <system_error>
#include <thread>

namespace cameo::engine {

namespace {
thread_local bool at_work = false;
}

// On the stack of the thread that called run(), which waits until no other has anything to do with it.
struct ThreadPool::Job {
  void (*work)(void* p, int part, int team);
  void* p;
  int team;
  int next = 0;       // the first part that nobody has taken
  int under_way = 0;  // parts that somebody has taken and not ended
};

bool ThreadPool::inside() { return at_work; }

ThreadPool::ThreadPool(int threads) : threads_(std::max(1, threads)) {
  for (int i = 1; i < threads_; ++i) try {
      std::thread([this] { serve(); }).detach();
    } catch (const std::system_error&) {
      return;  // the others do its part
    }
}

void ThreadPool::take_parts(Job& job, std::unique_lock<std::mutex>& lock) {
  at_work = true;
  while (job.next < job.team) {
    const int part = job.next++;
    ++job.under_way;
    lock.unlock();
    job.work(job.p, part, job.team);
    lock.lock();
    --job.under_way;
  }
  at_work = false;
}

void ThreadPool::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    begun_.wait(lock, [&] { return job_ && job_->next < job_->team; });
    Job& job = *job_;
    take_parts(job, lock);
    if (job.under_way == 0) ended_.notify_all();
  }
}

void ThreadPool::run(void (*work)(void*, int, int), void* p, int team) {
  Job job{work, p, team};
  std::unique_lock lock(mutex_);
  if (job_) {  // of another caller: this one works alone
    lock.unlock();
    for (int part = 0; part < team; ++part) work(p, part, team);
    return;
  }
  job_ = &job;
  begun_.notify_all();
  take_parts(job, lock);
  ended_.wait(lock, [&] { return job.under_way == 0; });
  job_ = nullptr;
}

}  // namespace cameo::engine
