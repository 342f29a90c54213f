#include "engine/store.h"

#include <new>

#include "support/error.h"

namespace cameo::engine {

Bytes aligned_bytes(uint64_t size) {
  const auto n = narrow<size_t>(size);
  auto* raw = static_cast<std::byte*>(::operator new(std::max<size_t>(n, 1), std::align_val_t(64)));
  std::shared_ptr<const void> owner(raw, [](const void* p) { ::operator delete(const_cast<void*>(p), std::align_val_t(64)); });
  return {std::move(owner), {raw, n}};
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
