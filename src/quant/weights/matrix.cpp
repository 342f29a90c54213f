#include "quant/weights/matrix.h"

#include <algorithm>

#include "engine/simd/half_rows.h"
#include "ir/weight_stream.h"
#include "support/budget.h"

namespace cameo::quant {

namespace {

constexpr int64_t tile_bytes = 1 << 20;

int64_t rows_at_once(int64_t rows, int64_t width) {
  return std::clamp<int64_t>(tile_bytes / std::max<int64_t>(1, width * 4), 1, std::max<int64_t>(1, rows));
}

}  // namespace

std::vector<float> Matrix::numbers(const Weight& w, int64_t first, int64_t rows) {
  const int64_t width = w.shape[1];
  std::vector<float> out(static_cast<size_t>(rows * width));
  if (w.dtype == DType::f32) {
    ir::gather_rows(w, first, rows, reinterpret_cast<std::byte*>(out.data()));
    return out;
  }
  std::vector<uint16_t> halves(out.size());
  ir::gather_rows(w, first, rows, reinterpret_cast<std::byte*>(halves.data()));
  const auto widen = w.dtype == DType::f16 ? engine::widen_f16_row : engine::widen_bf16_row;
  widen(halves.data(), out.data(), rows * width);
  return out;
}

void Matrix::for_rows(const std::function<void(int64_t, std::span<const float>)>& call) const {
  ir::check_inside(*weight);
  const int64_t rows = outputs(), width = depth(), step = rows_at_once(rows, width);
  for (int64_t first = 0; first < rows; first += step) {
    support::checkpoint();
    const int64_t count = std::min(step, rows - first);
    std::vector<float> tile = numbers(*weight, first, count);
    for (int64_t i = 0; i < count; ++i) {
      const auto row = std::span(tile).subspan(static_cast<size_t>(i * width), static_cast<size_t>(width));
      for (size_t k = 0; factors && k < row.size(); ++k) row[k] *= (*factors)[k];
      call(first + i, row);
    }
  }
}

BlockScale Matrix::quantize(std::span<const float> numbers, int64_t block, uint8_t* levels) const {
  const auto first = static_cast<size_t>(block * format.block);
  const auto all = importance ? std::span<const float>(*importance) : std::span<const float>();
  const auto counts = importance ? all.subspan(first, numbers.size()) : all;
  const BlockScale scale = block_scale(numbers, counts, format, method, weight->dtype);
  to_levels(numbers, scale, format, levels);
  return scale;
}

void Matrix::for_quantized(const std::function<void(const QuantizedRow&)>& call) const {
  QuantizedRow out;
  const auto block = static_cast<size_t>(format.block);
  out.scales.resize(static_cast<size_t>(blocks()));
  out.levels.assign(out.scales.size() * block, 0);
  for (int64_t n = 0; solved && n < outputs(); ++n) {
    const auto places = static_cast<size_t>(depth());
    std::copy_n(solved->levels.begin() + n * depth(), places, out.levels.begin());
    std::copy_n(solved->scales.begin() + n * blocks(), out.scales.size(), out.scales.begin());
    call(out);
  }
  if (solved) return;
  for_rows([&](int64_t, std::span<const float> row) {
    for (size_t b = 0; b < out.scales.size(); ++b)
      out.scales[b] = quantize(row.subspan(b * block, std::min(block, row.size() - b * block)), static_cast<int64_t>(b),
                               out.levels.data() + b * block);
    call(out);
  });
}

void Matrix::for_solved_blocks(
    const std::function<void(std::span<const uint8_t>, std::span<const BlockScale>)>& call) const {
  const auto width = static_cast<size_t>(outputs()), places = static_cast<size_t>(depth());
  const auto count = static_cast<size_t>(blocks()), block = static_cast<size_t>(format.block);
  std::vector<BlockScale> scales(width);
  std::vector<uint8_t> levels(std::min(block, places) * width);
  for (size_t b = 0; b < count; ++b) {
    const size_t rows = std::min(block, places - b * block);
    for (size_t n = 0; n < width; ++n) {
      scales[n] = solved->scales[n * count + b];
      for (size_t k = 0; k < rows; ++k) levels[k * width + n] = solved->levels[n * places + b * block + k];
    }
    call(std::span<const uint8_t>(levels).first(rows * width), scales);
  }
}

void Matrix::for_blocks(const std::function<void(std::span<const uint8_t>, std::span<const BlockScale>)>& call) const {
  if (solved) return for_solved_blocks(call);
  const std::vector<int64_t> swapped{1, 0};
  const Weight stored = weight->permuted(swapped);
  ir::check_inside(stored);
  const auto width = static_cast<size_t>(outputs());
  std::vector<float> column(static_cast<size_t>(format.block));
  std::vector<uint8_t> levels(column.size() * width), of_column(column.size());
  std::vector<BlockScale> scales(width);
  for (int64_t b = 0; b < blocks(); ++b) {
    support::checkpoint();
    const int64_t first = b * format.block, rows = std::min(format.block, depth() - first);
    const auto count = static_cast<size_t>(rows);
    const std::vector<float> lines = numbers(stored, first, rows);
    for (size_t n = 0; n < width; ++n) {
      for (size_t k = 0; k < count; ++k)
        column[k] = lines[k * width + n] * (factors ? (*factors)[static_cast<size_t>(first) + k] : 1.0F);
      scales[n] = quantize({column.data(), count}, b, of_column.data());
      for (size_t k = 0; k < count; ++k) levels[k * width + n] = of_column[k];
    }
    call(std::span<const uint8_t>(levels).first(count * width), scales);
  }
}

}  // namespace cameo::quant
