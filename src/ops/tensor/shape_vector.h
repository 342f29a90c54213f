// A shape for Reshape, written by an expansion: literal where sizes are known, computed where not.
#pragma once

#include <vector>

#include "ops/on.h"

namespace cameo::ops {

class ShapeVector {
 public:
  // Sizes asked for by axis are those of `like`, whose rank is known.
  ShapeVector(On& on, ValueId like) : on_(on), like_(like) {}

  void add(int64_t size) { parts_.push_back({.literal = size}); }
  // size(axis) * times / over
  void size_of(int64_t axis, int64_t times = 1, int64_t over = 1);
  ValueId value();  // 1-D int64

 private:
  struct Part {
    int64_t literal = 0, axis = -1, times = 1, over = 1;
  };
  ValueId computed(const Part& p, ValueId shape);

  On& on_;
  ValueId like_;
  std::vector<Part> parts_;
};

}  // namespace cameo::ops
