#include "tests/attack/target/stacks.h"

#include <execinfo.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>

#if defined(__SANITIZE_ADDRESS__)
#define ATTACK_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ATTACK_SANITIZED 1
#endif
#endif
#ifndef ATTACK_SANITIZED
#define ATTACK_SANITIZED 0
#endif

extern "C" char __executable_start;

namespace {

void print_stack(const char* head) {
  void* frames[128];
  const int n = backtrace(frames, 128);
  char line[160];
  (void)!write(2, line, static_cast<size_t>(std::snprintf(line, sizeof line, "\nattack: %s\n", head)));
  for (int i = 0; i < n; ++i) {
    const auto offset = static_cast<long>(static_cast<char*>(frames[i]) - &__executable_start);
    (void)!write(2, line, static_cast<size_t>(std::snprintf(line, sizeof line, "#%d +0x%lx\n", i, offset)));
  }
}

void out_of_time(int) {
  print_stack("out of time");
  _exit(attack::exit_hang);
}

}  // namespace

#if ATTACK_SANITIZED

extern "C" {
size_t __sanitizer_get_current_allocated_bytes();
int __sanitizer_install_malloc_and_free_hooks(void (*malloc_hook)(const volatile void*, size_t),
                                              void (*free_hook)(const volatile void*));

// Stacks stay raw: the campaign names their functions, once for each new stack.
__attribute__((no_sanitize("address", "undefined"))) const char* __asan_default_options() {
  return "exitcode=99:abort_on_error=0:detect_leaks=0:symbolize=0:handle_abort=1:handle_sigfpe=1:allocator_may_return_"
         "null=0:"
         "max_allocation_size_mb=1024:quarantine_size_mb=16:malloc_context_size=1:detect_odr_violation=0:"
         "detect_stack_use_after_return=0:use_sigaltstack=1:check_initialization_order=0";
}
__attribute__((no_sanitize("address", "undefined"))) const char* __ubsan_default_options() {
  return "print_stacktrace=1:symbolize=0:exitcode=99";
}
}

namespace {

size_t most_bytes = SIZE_MAX;
std::atomic<unsigned> allocations{0};

void on_malloc(const volatile void*, size_t size) {
  if (size < (1 << 16) && ++allocations % 256 != 0) return;
  if (__sanitizer_get_current_allocated_bytes() <= most_bytes) return;
  most_bytes = SIZE_MAX;
  print_stack("out of memory");
  _exit(attack::exit_memory);
}
void on_free(const volatile void*) {}

void watch_heap(size_t bytes) {
  most_bytes = bytes;
  __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
}
void watch_crashes() {}  // the sanitizer does

}  // namespace

#else

namespace {

alignas(16) char handler_stack[1 << 16];

void crashed(int signal) {
  print_stack("crash");
  ::signal(signal, SIG_DFL);
  raise(signal);
}

void watch_heap(size_t) {}  // the parent looks at the whole process
void watch_crashes() {
  stack_t stack{};
  stack.ss_sp = handler_stack;
  stack.ss_size = sizeof handler_stack;
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_handler = crashed;
  action.sa_flags = SA_ONSTACK | SA_RESETHAND;
  for (const int s : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigaction(s, &action, nullptr);
}

}  // namespace

#endif

namespace attack {

void prepare_stacks() {
  void* frame[2];
  backtrace(frame, 2);
}

void watch(size_t memory_bytes) {
  struct sigaction action {};
  action.sa_handler = out_of_time;
  sigaction(SIGUSR2, &action, nullptr);
  watch_crashes();
  watch_heap(memory_bytes);
}

}  // namespace attack
