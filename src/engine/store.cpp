#include "engine/store.h"

#include <new>

#include "support/budget.h"

namespace cameo::engine {

Bytes aligned_bytes(uint64_t size) {
  const auto n = narrow<size_t>(size);
  const auto alignment = static_cast<std::align_val_t>(n >= large_page ? large_page : size_t{64});
  auto claim = n >= large_page ? std::make_shared<const MemoryClaim>(n) : nullptr;  // small ones are not worth counting
  auto* raw = static_cast<std::byte*>(::operator new(std::max<size_t>(n, 1), alignment));
  if (n >= large_page) prefer_large_pages(raw, n);
  std::shared_ptr<const void> owner(raw, [alignment, claim = std::move(claim)](const void* p) {
    ::operator delete(const_cast<void*>(p), alignment);
  });
  return {std::move(owner), {raw, n}};
}

Bytes Store::allocate(uint64_t size) {
  constexpr size_t slab = 16 * large_page;
  const auto n = (narrow<size_t>(size) + 63) / 64 * 64;
  if (n > slab / 2) return aligned_bytes(size);
  const std::lock_guard lock(slab_mutex_);
  if (slab_.size() < slab_used_ + n) {
    slab_ = aligned_bytes(slab);
    slab_used_ = 0;
  }
  const Bytes out = slab_.slice(slab_used_, static_cast<size_t>(size));
  slab_used_ += n;
  return out;
}

Bytes Store::get(const std::string& key, const std::function<Bytes()>& make) {
  const std::lock_guard lock(mutex_);
  const auto it = made_.find(key);
  return it != made_.end() ? it->second : made_.emplace(key, make()).first->second;
}

uint64_t Store::bytes() const {
  const std::lock_guard lock(mutex_);
  uint64_t total = 0;
  for (const auto& [key, b] : made_) total += b.size();
  return total;
}

}  // namespace cameo::engine
