// An array of numbers in a few: range, mean, histogram, first elements.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cameo/array.h"
#include "cameo/json.h"

namespace cameo::page {

struct Summary {
  uint64_t count = 0, nan = 0, infinite = 0, zeros = 0;  // the others are finite
  double least = 0, most = 0, mean = 0, deviation = 0;   // of the finite ones
  std::vector<uint64_t> bins;                            // over [least, most]; empty where there is nothing finite
};

constexpr size_t bin_count = 48;

Summary summary_of(const SharedArray& a, const std::string& name);
// {"dtype", "shape", "count", "min", ..., "bins": [...], "first": [...]}; of strings only the first ones.
void write_array(json::Writer& w, const SharedArray& a, const std::string& name);

}  // namespace cameo::page
