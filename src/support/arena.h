// Bump allocation for many small objects that die together: syntax trees, pickled values.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/layers.h"

namespace cameo::support {

// Nothing is destroyed one by one, so only trivially destructible types may live here. Addresses are stable, also
// when the arena moves.
class Arena {
 public:
  Arena() = default;
  Arena(Arena&&) = default;
  Arena& operator=(Arena&&) = default;

  template <class T, class... A>
  T* make(A&&... args) {
    static_assert(std::is_trivially_destructible_v<T>);
    return new (raw(sizeof(T), alignof(T))) T{std::forward<A>(args)...};
  }

  // A copy of `items` that lives as long as the arena.
  template <class T>
  std::span<const T> copy(std::span<const T> items) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (items.empty()) return {};
    auto* to = static_cast<T*>(raw(items.size_bytes(), alignof(T)));
    std::memcpy(static_cast<void*>(to), items.data(), items.size_bytes());
    return {to, items.size()};
  }
  template <class T>
  std::span<const T> copy(const std::vector<T>& items) {
    return copy(std::span<const T>(items));
  }
  std::string_view copy(std::string_view text) {
    const auto chars = copy(std::span<const char>(text.data(), text.size()));
    return {chars.data(), chars.size()};
  }

  void* raw(size_t size, size_t align) {
    auto at = (used_ + align - 1) & ~(align - 1);
    if (blocks_.empty() || at > capacity_ || size > capacity_ - at) {
      grow(size);
      at = 0;
    }
    used_ = at + size;
    return blocks_.back().get() + at;
  }

  // What the blocks take, for budgets and statistics.
  size_t bytes() const { return total_; }

 private:
  void grow(size_t at_least) {
    const size_t wanted = total_ < (1u << 12) ? (1u << 12) : total_ < (1u << 20) ? total_ : (1u << 20);
    capacity_ = at_least > wanted ? at_least : wanted;
    blocks_.emplace_back(new std::byte[capacity_]);  // aligned for every fundamental type
    total_ += capacity_;
  }

  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  size_t used_ = 0, capacity_ = 0, total_ = 0;
};

}  // namespace cameo::support
