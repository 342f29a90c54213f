#include "engine/store.h"

#include <new>
#include <vector>

#include "support/budget.h"

namespace cameo::engine {

namespace {

constexpr auto large_alignment = static_cast<std::align_val_t>(large_page);

// A few large blocks that were given back. The next result of that size needs no fresh pages, which the operating
// system would have to clear: that takes as long as a light operator.
class SpareBlocks {
 public:
  std::byte* take(size_t size) {
    const std::lock_guard lock(mutex_);
    for (size_t i = 0; i < blocks_.size(); ++i)
      if (blocks_[i].size == size) {
        std::byte* found = blocks_[i].memory;
        blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(i));
        kept_ -= size;
        return found;
      }
    return nullptr;
  }

  void give(std::byte* memory, size_t size) noexcept {
    constexpr size_t most_bytes = size_t{64} << 20, most_blocks = 4;
#if !defined(__SANITIZE_ADDRESS__)
    const std::lock_guard lock(mutex_);
    if (blocks_.size() < most_blocks && size <= most_bytes - kept_) {
      blocks_.push_back({memory, size});  // room was reserved
      kept_ += size;
      return;
    }
#endif
    ::operator delete(memory, large_alignment);
  }

  SpareBlocks() { blocks_.reserve(4); }

 private:
  struct Block {
    std::byte* memory;
    size_t size;
  };
  std::mutex mutex_;
  std::vector<Block> blocks_;
  size_t kept_ = 0;
};

SpareBlocks& spare_blocks() {
  static auto* blocks = new SpareBlocks;  // outlives every tensor
  return *blocks;
}

Bytes large_bytes(size_t n) {
  auto claim = std::make_shared<const MemoryClaim>(n);
  std::byte* raw = spare_blocks().take(n);
  if (!raw) {
    raw = static_cast<std::byte*>(::operator new(n, large_alignment));
    prefer_large_pages(raw, n);
  }
  std::shared_ptr<const void> owner(raw, [n, claim = std::move(claim)](const void* p) {
    spare_blocks().give(static_cast<std::byte*>(const_cast<void*>(p)), n);
  });
  return {std::move(owner), {raw, n}};
}

}  // namespace

Bytes aligned_bytes(uint64_t size) {
  const auto n = narrow<size_t>(size);
  if (n >= large_page) return large_bytes(n);
  constexpr auto alignment = static_cast<std::align_val_t>(64);  // small ones are not worth counting
  auto* raw = static_cast<std::byte*>(::operator new(std::max<size_t>(n, 1), alignment));
  std::shared_ptr<const void> owner(raw, [](const void* p) { ::operator delete(const_cast<void*>(p), alignment); });
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
