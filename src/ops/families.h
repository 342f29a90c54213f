// Every family of operators and the function that lists its rules. A new family is one line here.
#pragma once

#include <span>

#include "ops/op_def.h"

namespace cameo::ops {

using Family = std::span<const OpRules> (*)();

std::span<const OpRules> concat_rules();
// nn
std::span<const OpRules> conv_rules();
std::span<const OpRules> conv_transpose_rules();
std::span<const OpRules> pool_rules();
std::span<const OpRules> global_pool_rules();
std::span<const OpRules> batch_normalization_rules();
std::span<const OpRules> layer_normalization_rules();
std::span<const OpRules> flex_attention_rules();
std::span<const OpRules> linear_attention_rules();
std::span<const OpRules> deform_conv_rules();
std::span<const OpRules> optimizer_rules();
std::span<const OpRules> dft_rules();
std::span<const OpRules> stft_rules();
std::span<const OpRules> grid_sample_rules();
std::span<const OpRules> detection_rules();
std::span<const OpRules> image_decoder_rules();
std::span<const OpRules> qlinear_matmul_rules();
std::span<const OpRules> quantize_rules();
std::span<const OpRules> resize_rules();
std::span<const OpRules> upsample_rules();
std::span<const OpRules> lstm_rules();
std::span<const OpRules> attention_rules();
std::span<const OpRules> rotary_embedding_rules();
// math
std::span<const OpRules> unary_rules();
std::span<const OpRules> arithmetic_rules();
std::span<const OpRules> logic_rules();
std::span<const OpRules> cumulative_rules();
std::span<const OpRules> cast_rules();
std::span<const OpRules> select_rules();
std::span<const OpRules> activation_rules();
std::span<const OpRules> gated_rules();
std::span<const OpRules> softmax_rules();
std::span<const OpRules> reduce_rules();
std::span<const OpRules> arg_rules();
std::span<const OpRules> matmul_rules();
std::span<const OpRules> einsum_rules();
std::span<const OpRules> det_rules();
std::span<const OpRules> random_rules();
std::span<const OpRules> window_rules();
std::span<const OpRules> loss_rules();
std::span<const OpRules> normalize_rules();
std::span<const OpRules> bits_rules();
std::span<const OpRules> variadic_rules();
// tensor
std::span<const OpRules> constant_rules();
std::span<const OpRules> shape_rules();
std::span<const OpRules> reshape_rules();
std::span<const OpRules> squeeze_rules();
std::span<const OpRules> transpose_rules();
std::span<const OpRules> expand_tile_rules();
std::span<const OpRules> slice_rules();
std::span<const OpRules> split_rules();
std::span<const OpRules> gather_rules();
std::span<const OpRules> scatter_rules();
std::span<const OpRules> pad_rules();
std::span<const OpRules> pick_rules();
std::span<const OpRules> one_hot_rules();
std::span<const OpRules> cache_rules();
std::span<const OpRules> col2im_rules();
std::span<const OpRules> if_rules();
std::span<const OpRules> loop_rules();
std::span<const OpRules> scan_rules();
std::span<const OpRules> sequence_map_rules();
std::span<const OpRules> sequence_rules();
std::span<const OpRules> optional_rules();
std::span<const OpRules> string_rules();
std::span<const OpRules> tfidf_rules();
std::span<const OpRules> feature_rules();
std::span<const OpRules> linear_model_rules();
std::span<const OpRules> svm_rules();
std::span<const OpRules> category_rules();
std::span<const OpRules> map_rules();
std::span<const OpRules> tree_ensemble_rules();

// long: a table, one family per line
inline std::span<const Family> op_families() {
  static constexpr Family all[] = {
      concat_rules,
      conv_rules,
      conv_transpose_rules,
      pool_rules,
      global_pool_rules,
      batch_normalization_rules,
      layer_normalization_rules,
      flex_attention_rules,
      linear_attention_rules,
      deform_conv_rules,
      optimizer_rules,
      dft_rules,
      stft_rules,
      grid_sample_rules,
      detection_rules,
      image_decoder_rules,
      qlinear_matmul_rules,
      quantize_rules,
      resize_rules,
      upsample_rules,
      lstm_rules,
      attention_rules,
      rotary_embedding_rules,
      unary_rules,
      arithmetic_rules,
      logic_rules,
      cumulative_rules,
      cast_rules,
      select_rules,
      activation_rules,
      gated_rules,
      softmax_rules,
      reduce_rules,
      arg_rules,
      matmul_rules,
      einsum_rules,
      det_rules,
      random_rules,
      window_rules,
      loss_rules,
      normalize_rules,
      bits_rules,
      variadic_rules,
      constant_rules,
      shape_rules,
      reshape_rules,
      squeeze_rules,
      transpose_rules,
      expand_tile_rules,
      slice_rules,
      split_rules,
      gather_rules,
      scatter_rules,
      pad_rules,
      pick_rules,
      one_hot_rules,
      cache_rules,
      col2im_rules,
      if_rules,
      loop_rules,
      scan_rules,
      sequence_map_rules,
      sequence_rules,
      optional_rules,
      string_rules,
      tfidf_rules,
      feature_rules,
      linear_model_rules,
      svm_rules,
      category_rules,
      map_rules,
      tree_ensemble_rules,
  };
  return all;
}

}  // namespace cameo::ops
