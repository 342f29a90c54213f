// A product's constant weights as rows, one per output, quantized block by block.
#pragma once

#include <functional>
#include <memory>

#include "ir/tensor.h"
#include "quant/weights/blocks.h"

namespace cameo::quant {

// Levels and scales that were found otherwise than number by number.
struct SolvedMatrix {
  std::vector<uint8_t> levels;     // outputs * depth
  std::vector<BlockScale> scales;  // outputs * blocks
};

struct Matrix {
  std::shared_ptr<const Weight> weight;  // f32, f16 or bf16, two axes: outputs, depth; may be a transposed view
  BlockFormat format;
  BlockMethod method = BlockMethod::rtn;
  std::shared_ptr<const std::vector<float>> importance;  // of each place along the depth; null: all alike
  std::shared_ptr<const std::vector<float>> factors;     // each place along the depth is multiplied with; null: 1
  std::shared_ptr<const SolvedMatrix> solved;            // instead of `method`

  int64_t outputs() const { return weight->shape[0]; }
  int64_t depth() const { return weight->shape[1]; }
  int64_t blocks() const { return format.blocks(depth()); }

  // Rows [first, first + rows) of `w`, a matrix, as f32.
  static std::vector<float> numbers(const Weight& w, int64_t first, int64_t rows);
  // Every row in order, as f32 with the factors applied. `row` is valid only during the call.
  void for_rows(const std::function<void(int64_t n, std::span<const float> row)>& call) const;
  // The same quantized.
  void for_quantized(const std::function<void(const QuantizedRow& row)>& call) const;
  // Block after block along the depth: levels [places, outputs] and the scales of all outputs.
  void for_blocks(
      const std::function<void(std::span<const uint8_t> levels, std::span<const BlockScale> scales)>& call) const;

 private:
  BlockScale quantize(std::span<const float> numbers, int64_t block, uint8_t* levels) const;
  void for_solved_blocks(
      const std::function<void(std::span<const uint8_t> levels, std::span<const BlockScale> scales)>& call) const;
};

}  // namespace cameo::quant
