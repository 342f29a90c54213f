// Moving elements between strided places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/layers.h"

namespace cameo::engine {

// Element i of `dims` goes from start_from + i * from to start_to + i * to, all counted in elements.
struct StridedCopy {
  std::vector<int64_t> dims, from, to;
  int64_t start_from = 0, start_to = 0;

  void simplify();         // joins axes that both sides walk alike; call once before run
  uint64_t reads() const;  // how many elements of either side it reaches; beyond all where it reaches below the first
  uint64_t writes() const;
  void run(size_t element_bytes, const std::byte* source, std::byte* target) const;  // on the threads of the scope
};

std::vector<int64_t> dense_strides(const std::vector<int64_t>& dims);

}  // namespace cameo::engine
