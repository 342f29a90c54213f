// Stack traces from signal handlers and from the allocator, as offsets into the program: `#0 +0x1234`.
#pragma once

#include <cstddef>

namespace attack {

inline constexpr int exit_hang = 96, exit_memory = 97, exit_sanitizer = 99;

void prepare_stacks();  // in the parent: loads what a handler must not load

// In the child: a crash prints its stack and ends as it would have ended; SIGUSR2 (out of time) prints the stack and
// ends with exit_hang; with sanitizers, more than `memory_bytes` of live heap ends with exit_memory.
void watch(size_t memory_bytes);

}  // namespace attack
