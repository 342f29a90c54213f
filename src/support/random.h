// splitmix64: the same numbers everywhere, unlike the standard library's distributions.
#pragma once

#include <cstdint>

#include "support/layers.h"

namespace cameo::support {

struct Random {
  uint64_t state;
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }             // 0 to 1
  double signed_unit() { return static_cast<double>(next() >> 11) * 0x1p-52 - 1; }  // -1 to 1
};

}  // namespace cameo::support
