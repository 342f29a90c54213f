// Constants prepared once and shared by all plans of a session: dense weights, packed weights.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "ir/tensor.h"

namespace cameo::engine {

Bytes aligned_bytes(uint64_t size);  // fresh memory on a cache line, to be filled before it is shared
// Asks for pages of 2 MiB, each of which costs one fault and one entry in the processor's tables. Only a hint.
inline constexpr size_t large_page = size_t{1} << 21;
void prefer_large_pages(void* memory, size_t size);
inline std::byte* writable(const Bytes& fresh) { return const_cast<std::byte*>(fresh.data()); }

class Store {
 public:
  // The bytes under this key, made by the first who asks.
  Bytes get(const std::string& key, const std::function<Bytes()>& make);
  uint64_t bytes() const;
  // Like aligned_bytes, but many share a piece of memory, so that it can have large pages. It is freed when the last
  // one is.
  Bytes allocate(uint64_t size);

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Bytes> made_;
  std::mutex slab_mutex_;
  Bytes slab_;
  size_t slab_used_ = 0;
};

}  // namespace cameo::engine
