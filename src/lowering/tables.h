// Every table of rows. A new table is one line here.
#pragma once

#include <span>

#include "lowering/row.h"

namespace cameo::lowering {

using RowTable = std::span<const Row> (*)();

std::span<const Row> alignment_rows();
std::span<const Row> arrange_rows();
std::span<const Row> complex_rows();
std::span<const Row> creation_rows();
std::span<const Row> decomposition_rows();
std::span<const Row> fourier_rows();
std::span<const Row> gathered_rows();
std::span<const Row> function_rows();
std::span<const Row> image_rows();
std::span<const Row> indexing_rows();
std::span<const Row> layer_rows();
std::span<const Row> loss_rows();
std::span<const Row> pointwise_rows();
std::span<const Row> quantize_rows();
std::span<const Row> random_rows();
std::span<const Row> recurrence_rows();
std::span<const Row> recurrent_rows();
std::span<const Row> reduction_rows();
std::span<const Row> matrix_rows();
std::span<const Row> order_rows();
std::span<const Row> pooling_rows();
std::span<const Row> scan_rows();
std::span<const Row> special_rows();
std::span<const Row> spectrum_rows();
std::span<const Row> strided_rows();
std::span<const Row> shape_rows();
std::span<const Row> nn_rows();
std::span<const Row> torchvision_rows();
std::span<const Row> variant_rows();

inline std::span<const RowTable> row_tables() {
  static constexpr RowTable all[] = {
      alignment_rows, arrange_rows,   complex_rows,  creation_rows,    decomposition_rows, fourier_rows,
      gathered_rows,  function_rows,  image_rows,    indexing_rows,    layer_rows,         loss_rows,
      nn_rows,        pointwise_rows, quantize_rows, random_rows,      recurrence_rows,    recurrent_rows,
      reduction_rows, matrix_rows,    order_rows,    pooling_rows,     scan_rows,          special_rows,
      spectrum_rows,  strided_rows,   shape_rows,    torchvision_rows, variant_rows,
  };
  return all;
}

}  // namespace cameo::lowering
