// Constants prepared once and shared by all plans of a session: dense weights, packed weights.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "ir/tensor.h"

namespace cameo::engine {

Bytes aligned_bytes(uint64_t size);  // fresh memory on a cache line, to be filled before anybody else sees it
inline std::byte* writable(const Bytes& fresh) { return const_cast<std::byte*>(fresh.data()); }

class Store {
 public:
  // The bytes under this key, made by the first who asks.
  Bytes get(const std::string& key, const std::function<Bytes()>& make);
  uint64_t bytes() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Bytes> made_;
};

}  // namespace cameo::engine
