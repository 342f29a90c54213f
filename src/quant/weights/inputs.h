// What products are multiplied with: rows of the values that they read, from samples.
#pragma once

#include <map>
#include <memory>

#include "quant/quantize.h"
#include "quant/weights/targets.h"

namespace cameo::quant {

// [rows, depth]
struct InputRows {
  int64_t depth = 0;
  std::vector<float> numbers;
  int64_t rows() const { return depth ? static_cast<int64_t>(numbers.size()) / depth : 0; }
  std::span<const float> row(int64_t i) const {
    return std::span(numbers).subspan(static_cast<size_t>(i * depth), static_cast<size_t>(depth));
  }
};

// The rows in eight stretches, every second one in the first part; where there are fewer, all of them in both.
std::pair<InputRows, InputRows> halves(const InputRows& x);

// An even selection of the rows of each value that a product of the main graph multiplies, by value; at most so much
// memory. Throws quantize.samples where there are none, and what running throws.
std::map<ValueId, InputRows> input_rows(const Model& m, const std::vector<WeightTarget>& targets,
                                        const Samples& samples, const engine::SessionOptions& run);

}  // namespace cameo::quant
