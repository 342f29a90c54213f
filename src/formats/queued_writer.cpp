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

namespace cameo::formats {

#if CAMEO_WRITER_THREAD

struct QueuedWriter::State {
  static constexpr size_t most_under_way = 3;

  explicit State(FileHandle& f) : file(f) {}
  FileHandle& file;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<WriteBuffer> full;
  std::vector<WriteBuffer> empty;
  size_t under_way = 0;
  int failure = 0;
  bool ending = false;
  std::thread thread;

  void run() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return ending || !full.empty(); });
      if (full.empty()) return;
      WriteBuffer buffer = std::move(full.front());
      full.pop_front();
      const bool failed = failure != 0;
      lock.unlock();
      const int code = failed ? 0 : file.write_all(buffer.bytes());
      buffer.used = 0;
      lock.lock();
      if (code) failure = code;
      empty.push_back(std::move(buffer));
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

WriteBuffer QueuedWriter::exchange(WriteBuffer full) {
  State& s = *state_;
  std::unique_lock lock(s.mutex);
  s.changed.wait(lock, [&] { return s.under_way < State::most_under_way; });
  s.full.push_back(std::move(full));
  ++s.under_way;
  s.changed.notify_all();
  if (s.empty.empty()) return {};
  WriteBuffer out = std::move(s.empty.back());
  s.empty.pop_back();
  return out;
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
WriteBuffer QueuedWriter::exchange(WriteBuffer full) { return full; }
int QueuedWriter::finish() { return ENOSYS; }

#endif

}  // namespace cameo::formats
