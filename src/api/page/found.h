// Search over names, operators, shapes and weights.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/page/tree.h"

namespace cameo::page {

struct Hit {
  uint32_t item = 0;
  std::string_view what;  // "operator", "module", "value", "weight", "type"
  std::string text;
};

struct Hits {
  size_t count = 0;  // all of them
  std::vector<Hit> hits;
};

// Every word has to be in one of an item's texts; letters count as equal in both cases. In the order of the file, whole
// names first.
Hits found(const Tree& tree, std::string_view text, size_t most);

}  // namespace cameo::page
