// The command's own operator new. A model is hundreds of thousands of small objects that one thread makes and mostly
// keeps until the end: lists of free blocks by size serve them in a tenth of the instructions of a general allocator.
// Other threads, and large objects, go to malloc. Under sanitizers, which bring their own, this file is empty.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "cameo/face.h"
#include "cli/pools.h"

#if defined(__linux__) && defined(__GLIBC__)
#include <malloc.h>
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

using namespace cameo;
using namespace cameo::cli;

namespace {

constinit Pools pools;
constinit thread_local bool is_owner = false;
constinit std::atomic<bool> is_owned{false};

// The first thread to ask is the main one, before any other was started.
bool owner() {
  if (is_owner) [[likely]]
    return true;
  if (is_owned.load(std::memory_order_relaxed) || is_owned.exchange(true)) return false;
  prepare_heap();
  operator_new_counts();
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
    uncount_memory(*static_cast<uint64_t*>(block));
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
  if (!count_memory(size)) throw std::bad_alloc();
  void* p = std::aligned_alloc(a, (size + a - 1) / a * a);
  if (!p) {
    uncount_memory(size);
    throw std::bad_alloc();
  }
  count_memory(malloc_usable_size(p) - size);
  return p;
}
void operator delete(void* object, std::align_val_t) noexcept {
  if (object) uncount_memory(malloc_usable_size(object));
  std::free(object);
}
void operator delete(void* object, size_t, std::align_val_t alignment) noexcept { operator delete(object, alignment); }
#endif
void operator delete[](void* object) noexcept { operator delete(object); }
void operator delete[](void* object, size_t) noexcept { operator delete(object); }

#endif
