#include "engine/store.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace cameo::engine {

void prefer_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] size_t size) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  ::madvise(memory, size, MADV_HUGEPAGE);
#endif
}

}  // namespace cameo::engine
