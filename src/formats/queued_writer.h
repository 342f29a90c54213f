// Writing on a thread of its own: the next bytes are made while the system takes the last ones.
#pragma once

#include <memory>
#include <string>

#include "formats/file_handle.h"

namespace cameo {

class QueuedWriter {
 public:
  // Null where threads are not to be had: the caller then writes by itself. `file` must outlive the writer.
  static std::unique_ptr<QueuedWriter> start(FileHandle& file);
  ~QueuedWriter();  // waits for what was taken
  QueuedWriter(const QueuedWriter&) = delete;
  QueuedWriter& operator=(const QueuedWriter&) = delete;

  // Takes `full` and gives back an empty buffer with the same memory behind it as earlier ones. Waits while too much is
  // under way. Buffers are written in order; after a failure they are dropped.
  std::string exchange(std::string full);
  // Bytes of a mapped file come next.
  void copy(MappedRange range);
  // Waits until all is written. The first failure's errno, 0 when there was none.
  int finish();

 private:
  struct State;
  explicit QueuedWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace cameo
