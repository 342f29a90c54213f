#include "tests/attack/target/coverage.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

// Clang counts inline, in a section of bytes, and tells its bounds at start. g++ calls a function at every edge.
namespace {

constexpr size_t page = 4096;

uint8_t* counters = nullptr;  // whole pages, shared with children
size_t count = 0;
uint8_t* seen = nullptr;
size_t seen_total = 0;

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(3);
}

void* shared(void* at, size_t bytes, int fd) {
  const int kind = MAP_SHARED | (at ? MAP_FIXED : 0) | (fd < 0 ? MAP_ANONYMOUS : 0);
  void* p = mmap(at, bytes, PROT_READ | PROT_WRITE, kind, fd, 0);
  if (p == MAP_FAILED) fail("attack_target: mmap");
  return p;
}

}  // namespace

#if defined(__clang__)

extern "C" void __sanitizer_cov_8bit_counters_init(uint8_t* start, uint8_t* stop) {
  // The pages that the section shares with other data stay private: their edges, a few thousand at most, are not
  // counted.
  const auto up = (reinterpret_cast<uintptr_t>(start) + page - 1) / page * page;
  const auto down = reinterpret_cast<uintptr_t>(stop) / page * page;
  if (down <= up || down - up <= count) return;
  counters = reinterpret_cast<uint8_t*>(up);
  count = down - up;
}

namespace {
void place_counters() {
  if (count) shared(counters, count, -1);
}
}  // namespace

#else

extern "C" {
extern char __executable_start;
__attribute__((no_sanitize("address", "undefined"), no_sanitize_coverage)) void __sanitizer_cov_trace_pc() {
  if (!counters) return;
  const uintptr_t at = static_cast<uintptr_t>(static_cast<char*>(__builtin_return_address(0)) - &__executable_start);
  counters[(at >> 2) * 0x9E3779B1u % count] = 1;
}
}

namespace {
void place_counters() {
#if defined(CAMEO_ATTACK_COVERAGE)
  constexpr size_t slots = size_t{1} << 20;
  uint8_t* p = static_cast<uint8_t*>(shared(nullptr, slots, -1));
  count = slots;
  counters = p;
#endif
}
}  // namespace

#endif

namespace attack {

size_t edge_count() { return count; }

void share_counters(const char* file) {
  place_counters();
  if (!count) return;
  int fd = -1;
  if (*file) {
    fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0 || ftruncate(fd, static_cast<off_t>(count)) != 0) fail(file);
  }
  seen = static_cast<uint8_t*>(shared(nullptr, count, fd));
  if (fd >= 0) close(fd);
}

void clear_counters() {
  if (count) std::memset(counters, 0, count);
}

uint32_t take_new_edges() {
  uint32_t fresh = 0;
  for (size_t i = 0; i + 8 <= count; i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, counters + i, 8);
    if (!word) continue;
    for (size_t k = i; k < i + 8; ++k)
      if (counters[k] && !seen[k]) seen[k] = 1, ++fresh;
  }
  return fresh;
}

uint32_t edges_seen() {
  seen_total = 0;
  for (size_t i = 0; i < count; ++i) seen_total += seen[i];
  return static_cast<uint32_t>(seen_total);
}

}  // namespace attack
