// Every table of rows. A new table is one line here.
#pragma once

#include <span>

#include "lowering/row.h"

namespace cameo::lowering {

using RowTable = std::span<const Row> (*)();

std::span<const Row> fft_transforms_rows();
std::span<const Row> linalg_decompositions_rows();
std::span<const Row> linalg_decompositions_spectral_rows();
std::span<const Row> linalg_inverses_rows();
std::span<const Row> linalg_matrix_functions_rows();
std::span<const Row> linalg_matrix_properties_rows();
std::span<const Row> linalg_products_rows();
std::span<const Row> linalg_solvers_rows();
std::span<const Row> nn_functional_activation_rows();
std::span<const Row> nn_functional_attention_rows();
std::span<const Row> nn_functional_convolution_rows();
std::span<const Row> nn_functional_ctc_loss_rows();
std::span<const Row> nn_functional_distance_rows();
std::span<const Row> nn_functional_dropout_rows();
std::span<const Row> nn_functional_interpolate_rows();
std::span<const Row> nn_functional_linear_rows();
std::span<const Row> nn_functional_loss_rows();
std::span<const Row> nn_functional_normalization_rows();
std::span<const Row> nn_functional_padding_rows();
std::span<const Row> nn_functional_pooling_indices_rows();
std::span<const Row> nn_functional_pooling_rows();
std::span<const Row> nn_functional_recurrent_rows();
std::span<const Row> nn_functional_sparse_rows();
std::span<const Row> nn_functional_vision_rows();
std::span<const Row> quantization_rows();
std::span<const Row> special_bessel_rows();
std::span<const Row> special_functions_rows();
std::span<const Row> special_gamma_rows();
std::span<const Row> special_polynomials_rows();
std::span<const Row> tensor_conversion_rows();
std::span<const Row> tensor_indexing_rows();
std::span<const Row> tensor_views_rows();
std::span<const Row> tensor_writing_rows();
std::span<const Row> torch_blas_rows();
std::span<const Row> torch_comparison_rows();
std::span<const Row> torch_creation_rows();
std::span<const Row> torch_indexing_rows();
std::span<const Row> torch_joining_rows();
std::span<const Row> torch_mutating_rows();
std::span<const Row> torch_other_algebra_rows();
std::span<const Row> torch_other_arranging_rows();
std::span<const Row> torch_other_cumulative_rows();
std::span<const Row> torch_other_diagonals_rows();
std::span<const Row> torch_other_histograms_rows();
std::span<const Row> torch_pointwise_arithmetic_rows();
std::span<const Row> torch_pointwise_bits_rows();
std::span<const Row> torch_pointwise_functions_rows();
std::span<const Row> torch_random_sampling_rows();
std::span<const Row> torch_reduction_order_rows();
std::span<const Row> torch_reduction_rows();
std::span<const Row> torch_slicing_rows();
std::span<const Row> torch_spectral_rows();
std::span<const Row> torchvision_rows();

inline std::span<const RowTable> row_tables() {
  static constexpr RowTable all[] = {
      fft_transforms_rows,
      linalg_decompositions_rows,
      linalg_decompositions_spectral_rows,
      linalg_inverses_rows,
      linalg_matrix_functions_rows,
      linalg_matrix_properties_rows,
      linalg_products_rows,
      linalg_solvers_rows,
      nn_functional_activation_rows,
      nn_functional_attention_rows,
      nn_functional_convolution_rows,
      nn_functional_ctc_loss_rows,
      nn_functional_distance_rows,
      nn_functional_dropout_rows,
      nn_functional_interpolate_rows,
      nn_functional_linear_rows,
      nn_functional_loss_rows,
      nn_functional_normalization_rows,
      nn_functional_padding_rows,
      nn_functional_pooling_indices_rows,
      nn_functional_pooling_rows,
      nn_functional_recurrent_rows,
      nn_functional_sparse_rows,
      nn_functional_vision_rows,
      quantization_rows,
      special_bessel_rows,
      special_functions_rows,
      special_gamma_rows,
      special_polynomials_rows,
      tensor_conversion_rows,
      tensor_indexing_rows,
      tensor_views_rows,
      tensor_writing_rows,
      torch_blas_rows,
      torch_comparison_rows,
      torch_creation_rows,
      torch_indexing_rows,
      torch_joining_rows,
      torch_mutating_rows,
      torch_other_algebra_rows,
      torch_other_arranging_rows,
      torch_other_cumulative_rows,
      torch_other_diagonals_rows,
      torch_other_histograms_rows,
      torch_pointwise_arithmetic_rows,
      torch_pointwise_bits_rows,
      torch_pointwise_functions_rows,
      torch_random_sampling_rows,
      torch_reduction_order_rows,
      torch_reduction_rows,
      torch_slicing_rows,
      torch_spectral_rows,
      torchvision_rows,
  };
  return all;
}

}  // namespace cameo::lowering
