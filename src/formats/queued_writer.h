// Writing on a thread of its own: the next bytes are made while the system takes the last ones.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "formats/file_handle.h"

namespace cameo::formats {

// Memory that is filled and handed on; made when first filled.
struct WriteBuffer {
  static constexpr size_t capacity = size_t{1} << 20;
  std::unique_ptr<std::byte[]> memory;
  size_t used = 0;

  std::span<std::byte> room() {
    if (!memory) memory = std::make_unique_for_overwrite<std::byte[]>(capacity);
    return {memory.get() + used, capacity - used};
  }
  std::span<const std::byte> bytes() const { return {memory.get(), used}; }
};

class QueuedWriter {
 public:
  // Null if threads are not available: the caller then writes by itself. `file` must outlive the writer.
  static std::unique_ptr<QueuedWriter> start(FileHandle& file);
  ~QueuedWriter();  // waits for what was taken
  QueuedWriter(const QueuedWriter&) = delete;
  QueuedWriter& operator=(const QueuedWriter&) = delete;

  // Takes `full` and gives back an empty buffer with the same memory behind it as earlier ones. Waits while too much is
  // under way. Buffers are written in order; after a failure they are dropped.
  WriteBuffer exchange(WriteBuffer full);
  // Waits until all is written. The first failure's errno, 0 when there was none.
  int finish();

 private:
  struct State;
  explicit QueuedWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace cameo::formats
