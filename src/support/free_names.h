// Names that nothing has yet.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "support/error.h"

namespace cameo::support {

class FreeNames {
 public:
  // The number behind the second thing that is called alike: "x", "x_1" or "x", "x_2".
  explicit FreeNames(size_t first) : first_(first) {}

  void take(std::string_view name) { taken_.emplace(name); }

  // As wanted, or with a number, which is taken from then on. Numbers that were tried are not tried again: a file may
  // have one name very often.
  std::string give(std::string_view wanted) {
    std::string name(wanted);
    for (size_t& number = next_.try_emplace(name, first_).first->second; !taken_.insert(name).second; ++number)
      name = cat(wanted, "_", number);
    return name;
  }

 private:
  size_t first_;
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, size_t> next_;
};

}  // namespace cameo::support
