#include "formats/queued_writer.h"

#include <cerrno>

#if defined(__unix__) && !defined(__EMSCRIPTEN__)
#define CAMEO_WRITER_THREAD 1
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>
#else
#define CAMEO_WRITER_THREAD 0
#endif

namespace cameo {

#if CAMEO_WRITER_THREAD

struct QueuedWriter::State {
  static constexpr size_t most_under_way = 4;

  explicit State(FileHandle& f) : file(f) {}
  FileHandle& file;
  std::mutex mutex;
  std::condition_variable changed;
  struct Job {
    std::string bytes;
    MappedRange range;  // where it has a file, instead
  };
  std::deque<Job> full;
  std::vector<std::string> empty;
  size_t under_way = 0;
  int failure = 0;
  bool ending = false;
  std::thread thread;

  int write(std::string_view data) {
    while (!data.empty()) {
      const auto done = file.write(std::as_bytes(std::span(data.data(), data.size())));
      if (done <= 0) return done < 0 ? errno : EIO;
      data.remove_prefix(static_cast<size_t>(done));
    }
    return 0;
  }

  int copy(MappedRange range) {
    while (range.size > 0) {
      const auto done = file.copy(range);
      if (done <= 0) return done < 0 ? errno : EIO;
      range.offset += static_cast<uint64_t>(done);
      range.size -= static_cast<uint64_t>(done);
    }
    return 0;
  }

  void put(std::unique_lock<std::mutex>& lock, Job job) {
    changed.wait(lock, [&] { return under_way < most_under_way; });
    full.push_back(std::move(job));
    ++under_way;
    changed.notify_all();
  }

  void run() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return ending || !full.empty(); });
      if (full.empty()) return;
      Job job = std::move(full.front());
      full.pop_front();
      const bool failed = failure != 0, is_copy = job.range.file != nullptr;
      lock.unlock();
      const int code = failed ? 0 : is_copy ? copy(std::move(job.range)) : write(job.bytes);
      job.bytes.clear();
      lock.lock();
      if (code) failure = code;
      if (!is_copy) empty.push_back(std::move(job.bytes));
      --under_way;
      changed.notify_all();
    }
  }
};

QueuedWriter::QueuedWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}

std::unique_ptr<QueuedWriter> QueuedWriter::start(FileHandle& file) {
  auto state = std::make_unique<State>(file);
  try {
    state->thread = std::thread([s = state.get()] { s->run(); });
  } catch (const std::system_error&) {  // no more threads, or no memory for one
    return nullptr;
  }
  return std::unique_ptr<QueuedWriter>(new QueuedWriter(std::move(state)));
}

QueuedWriter::~QueuedWriter() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->ending = true;
  }
  state_->changed.notify_all();
  state_->thread.join();
}

std::string QueuedWriter::exchange(std::string full) {
  State& s = *state_;
  std::unique_lock lock(s.mutex);
  s.put(lock, {std::move(full), {}});
  if (s.empty.empty()) return {};
  std::string out = std::move(s.empty.back());
  s.empty.pop_back();
  return out;
}

void QueuedWriter::copy(MappedRange range) {
  std::unique_lock lock(state_->mutex);
  state_->put(lock, {{}, std::move(range)});
}

int QueuedWriter::finish() {
  State& s = *state_;
  std::unique_lock lock(s.mutex);
  s.changed.wait(lock, [&] { return s.under_way == 0; });
  return s.failure;
}

#else

struct QueuedWriter::State {};
QueuedWriter::QueuedWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
std::unique_ptr<QueuedWriter> QueuedWriter::start(FileHandle&) { return nullptr; }
QueuedWriter::~QueuedWriter() = default;
std::string QueuedWriter::exchange(std::string full) { return full; }
void QueuedWriter::copy(MappedRange) {}
int QueuedWriter::finish() { return ENOSYS; }

#endif

}  // namespace cameo
