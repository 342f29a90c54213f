// Lists of free blocks by size, for the command's operator new; included only by memory.cpp.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "cameo/face.h"

#if defined(__linux__) && defined(__GLIBC__)
#include <malloc.h>
#include <sys/mman.h>
#endif

namespace cameo::cli {

// A block is a header of 8 bytes, its class, and 16 * class + 8 bytes for the object, which lie at a multiple of 16.
constexpr size_t classes = 33;  // objects of up to 520 bytes
constexpr uint64_t large = UINT64_MAX;
constexpr size_t header = 8, unit = 16, most_at_once = size_t{1} << 20;

struct Free {
  Free* next;
};

inline uint64_t& class_of(void* object) { return *reinterpret_cast<uint64_t*>(static_cast<char*>(object) - header); }

// Half of what a short run costs are page faults. The first megabytes of the heap are asked for as huge pages, which
// take memory only when they are touched, and what is freed stays for the next that asks.
inline void prepare_heap() {
#if defined(__linux__) && defined(__GLIBC__)
  constexpr size_t first = size_t{32} << 20, huge = size_t{2} << 20;
  mallopt(M_MMAP_THRESHOLD, static_cast<int>(2 * first));
  mallopt(M_TRIM_THRESHOLD, static_cast<int>(2 * first));
  void* heap = std::malloc(first);
  if (!heap) return;
  const auto begin = (reinterpret_cast<uintptr_t>(heap) + huge - 1) / huge * huge,
             end = (reinterpret_cast<uintptr_t>(heap) + first) / huge * huge;
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
  std::free(heap);
#endif
}

// Memory by the megabyte, or an object that has its size noted: counted against --max-memory.
inline void* from_malloc(size_t size) {
  if (!count_memory(size)) throw std::bad_alloc();
  void* p = std::malloc(size);
  if (p) return p;
  uncount_memory(size);
  throw std::bad_alloc();
}

struct Pools {
  std::array<Free*, classes> free{};
  char* at = nullptr;  // blocks that were never used
  char* end = nullptr;
  size_t chunk = size_t{1} << 16;
  std::atomic<Free*> foreign{nullptr};  // given back by other threads

  void put(Free* f) {
    const auto c = static_cast<size_t>(class_of(f));
    f->next = free[c];
    free[c] = f;
  }

  void* make(size_t c) {
    for (Free* f = foreign.exchange(nullptr, std::memory_order_acquire); f;) {
      Free* next = f->next;
      put(f);
      f = next;
    }
    if (Free* f = free[c]) return free[c] = f->next, f;
    const size_t size = (c + 1) * unit;
    if (static_cast<size_t>(end - at) < size) {
      at = static_cast<char*>(from_malloc(chunk)) + unit - header;
      end = at + chunk - unit;
      if (chunk < most_at_once) chunk *= 2;
    }
    void* object = at + header;
    at += size;
    class_of(object) = c;
    return object;
  }
};

}  // namespace cameo::cli
