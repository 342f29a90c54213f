// Limits on time and memory for hostile input: every loop whose count comes from a file calls `checkpoint()`, and large
// allocations are counted. Budgets on other sizes (terms of an expression, nodes of expanded functions) are checked
// where these things are made; they throw `over_budget`.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "cameo/limits.h"
#include "support/error.h"

namespace cameo::support {

namespace detail {
// Not 0: there is a deadline, an interrupt or a StopScope. A checkpoint costs one relaxed load.
extern std::atomic<uint32_t> attention;
void attend();
}  // namespace detail

// Throws budget.time or budget.interrupted if the work has to stop. Both are sticky: if the error is caught, the next
// checkpoint throws again.
inline void checkpoint() {
  if (detail::attention.load(std::memory_order_relaxed)) [[unlikely]]
    detail::attend();
}
bool interrupted();

// Of this thread: its innermost scope's, else the defaults.
const Limits& limits();

// budget.WHAT, with what raises it: over_budget("heap", "the program's values take more than 512 MiB", "--max-heap").
Error over_budget(std::string_view budget, std::string what, std::string_view flag);

bool is_budget(const Error& e);  // one of these: the work cannot go on without the refused resource

// Memory, in the whole process. take_memory is false, and counts nothing, where the limit would be passed.
bool take_memory(uint64_t bytes) noexcept;
void give_memory(uint64_t bytes) noexcept;
uint64_t memory_taken();
Error out_of_memory();  // the finding budget.memory
// Called by an operator new that counts every allocation; otherwise owners of large memory count it (MemoryClaim).
void allocator_counts() noexcept;

// Counts what an owner of large memory holds. Throws budget.memory past the limit.
class MemoryClaim {
 public:
  explicit MemoryClaim(uint64_t bytes);
  ~MemoryClaim() {
    if (bytes_) give_memory(bytes_);
  }
  MemoryClaim(MemoryClaim&& o) noexcept : bytes_(o.bytes_) { o.bytes_ = 0; }
  MemoryClaim& operator=(MemoryClaim&&) = delete;

 private:
  uint64_t bytes_;
};

}  // namespace cameo::support
