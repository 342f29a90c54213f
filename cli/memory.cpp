// The command's own operator new. A model is hundreds of thousands of small objects that one thread makes and mostly
// keeps until the end: lists of free blocks by size serve them in a tenth of the instructions of a general allocator.
// Other threads, and large objects, go to malloc. Under sanitizers, which bring their own, this file is empty.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "support/budget.h"

#if defined(__linux__) && defined(__GLIBC__)
#include <malloc.h>
#include <sys/mman.h>
#endif

#if defined(__SANITIZE_ADDRESS__)
#define CAMEO_OWN_NEW 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CAMEO_OWN_NEW 0
#endif
#endif
#ifndef CAMEO_OWN_NEW
#define CAMEO_OWN_NEW 1
#endif

#if CAMEO_OWN_NEW

namespace {

// A block is a header of 8 bytes, its class, and 16 * class + 8 bytes for the object, which lie at a multiple of 16.
constexpr size_t classes = 33;  // objects of up to 520 bytes
constexpr uint64_t large = UINT64_MAX;
constexpr size_t header = 8, unit = 16, most_at_once = size_t{1} << 20;

struct Free {
  Free* next;
};

uint64_t& class_of(void* object) { return *reinterpret_cast<uint64_t*>(static_cast<char*>(object) - header); }

// Half of what a short run costs are page faults. The first megabytes of the heap are asked for as huge pages, which
// take memory only when they are touched, and what is freed stays for the next that asks.
void prepare_heap() {
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
void* from_malloc(size_t size) {
  if (!cameo::support::take_memory(size)) throw std::bad_alloc();
  void* p = std::malloc(size);
  if (p) return p;
  cameo::support::give_memory(size);
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

constinit Pools pools;
constinit thread_local bool is_owner = false;
constinit std::atomic<bool> is_owned{false};

// The first thread to ask is the main one, before any other was started.
bool owner() {
  if (is_owner) [[likely]]
    return true;
  if (is_owned.load(std::memory_order_relaxed) || is_owned.exchange(true)) return false;
  prepare_heap();
  cameo::support::allocator_counts();
  return is_owner = true;
}

}  // namespace

void* operator new(size_t size) {
  const size_t c = (size + header - 1) / unit;
  if (c < classes && owner()) [[likely]] {
    Free* f = pools.free[c];
    if (!f) [[unlikely]]
      return pools.make(c);
    pools.free[c] = f->next;
    return f;
  }
  if (size > SIZE_MAX - unit) throw std::bad_alloc();
  void* block = from_malloc(size + unit);
  *static_cast<uint64_t*>(block) = size + unit;
  void* object = static_cast<char*>(block) + unit;
  class_of(object) = large;
  return object;
}

void operator delete(void* object) noexcept {
  if (!object) return;
  if (class_of(object) == large) {
    void* block = static_cast<char*>(object) - unit;
    cameo::support::give_memory(*static_cast<uint64_t*>(block));
    return std::free(block);
  }
  auto* f = static_cast<Free*>(object);
  if (is_owner) [[likely]]
    return pools.put(f);
  f->next = pools.foreign.load(std::memory_order_relaxed);
  while (!pools.foreign.compare_exchange_weak(f->next, f, std::memory_order_release, std::memory_order_relaxed)) {}
}

void operator delete(void* object, size_t) noexcept { operator delete(object); }
void* operator new[](size_t size) { return operator new(size); }

#if defined(__linux__) && defined(__GLIBC__)
// Arenas and tensors. glibc knows how large they are.
void* operator new(size_t size, std::align_val_t alignment) {
  const auto a = static_cast<size_t>(alignment);
  if (size > SIZE_MAX - a) throw std::bad_alloc();
  if (!cameo::support::take_memory(size)) throw std::bad_alloc();
  void* p = std::aligned_alloc(a, (size + a - 1) / a * a);
  if (!p) {
    cameo::support::give_memory(size);
    throw std::bad_alloc();
  }
  cameo::support::take_memory(malloc_usable_size(p) - size);
  return p;
}
void operator delete(void* object, std::align_val_t) noexcept {
  if (object) cameo::support::give_memory(malloc_usable_size(object));
  std::free(object);
}
void operator delete(void* object, size_t, std::align_val_t alignment) noexcept { operator delete(object, alignment); }
#endif
void operator delete[](void* object) noexcept { operator delete(object); }
void operator delete[](void* object, size_t) noexcept { operator delete(object); }

#endif
