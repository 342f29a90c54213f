// Numbers the locals of one function while it is parsed.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "support/layers.h"

namespace cameo::torchscript {

// An open-addressing table that is emptied in time proportional to what it holds: most functions are tiny.
class LocalNames {
 public:
  void clear();
  int32_t find(std::string_view name) const;  // -1 when unknown
  int32_t add(std::string_view name);         // its slot, new or old
  std::span<const std::string_view> all() const { return names_; }

 private:
  static uint32_t hash(std::string_view name);
  void rehash(size_t size);

  std::vector<std::string_view> names_;
  std::vector<int32_t> table_;  // slot + 1; 0 is empty; size is a power of two
};

}  // namespace cameo::torchscript
