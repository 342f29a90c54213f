// Every family of operators and the function that lists its rules. A new family is one line here.
#pragma once

#include <span>

#include "ops/op_def.h"

namespace cameo::ops {

using Family = std::span<const OpRules> (*)();

// activation
std::span<const OpRules> activation_rules();
std::span<const OpRules> prelu_rules();
std::span<const OpRules> softmax_rules();
std::span<const OpRules> swiglu_rules();
// control
std::span<const OpRules> if_rules();
std::span<const OpRules> loop_rules();
std::span<const OpRules> scan_rules();
std::span<const OpRules> sequence_map_rules();
// linger
std::span<const OpRules> linger_elementwise_rules();
std::span<const OpRules> linger_linear_rules();
std::span<const OpRules> linger_matmul_rules();
std::span<const OpRules> linger_normalization_rules();
std::span<const OpRules> linger_pool_rules();
std::span<const OpRules> linger_recurrent_rules();
// math
std::span<const OpRules> arithmetic_rules();
std::span<const OpRules> bits_rules();
std::span<const OpRules> cast_rules();
std::span<const OpRules> clip_rules();
std::span<const OpRules> cumulative_rules();
std::span<const OpRules> det_rules();
std::span<const OpRules> einsum_rules();
std::span<const OpRules> logic_rules();
std::span<const OpRules> loss_rules();
std::span<const OpRules> matmul_rules();
std::span<const OpRules> random_rules();
std::span<const OpRules> unary_rules();
std::span<const OpRules> variadic_rules();
// ml
std::span<const OpRules> category_rules();
std::span<const OpRules> feature_rules();
std::span<const OpRules> linear_model_rules();
std::span<const OpRules> map_rules();
std::span<const OpRules> svm_rules();
std::span<const OpRules> tree_ensemble_rules();
// nn
std::span<const OpRules> attention_rules();
std::span<const OpRules> batch_normalization_rules();
std::span<const OpRules> causal_conv_rules();
std::span<const OpRules> conv_rules();
std::span<const OpRules> conv_transpose_rules();
std::span<const OpRules> deform_conv_rules();
std::span<const OpRules> dropout_rules();
std::span<const OpRules> flex_attention_rules();
std::span<const OpRules> global_pool_rules();
std::span<const OpRules> instance_normalization_rules();
std::span<const OpRules> layer_normalization_rules();
std::span<const OpRules> linear_attention_rules();
std::span<const OpRules> max_unpool_rules();
std::span<const OpRules> normalization_rules();
std::span<const OpRules> pool_rules();
std::span<const OpRules> recurrent_rules();
std::span<const OpRules> rotary_embedding_rules();
// quant
std::span<const OpRules> dynamic_quantize_lstm_rules();
std::span<const OpRules> gather_block_quantized_rules();
std::span<const OpRules> matmul_nbits_rules();
std::span<const OpRules> qlinear_matmul_rules();
std::span<const OpRules> quantize_rules();
// reduce
std::span<const OpRules> arg_rules();
std::span<const OpRules> reduce_rules();
std::span<const OpRules> top_k_rules();
// sequence
std::span<const OpRules> optional_rules();
std::span<const OpRules> sequence_rules();
// signal
std::span<const OpRules> dft_rules();
std::span<const OpRules> mel_weight_matrix_rules();
std::span<const OpRules> stft_rules();
std::span<const OpRules> window_rules();
// tensor
std::span<const OpRules> col2im_rules();
std::span<const OpRules> compress_rules();
std::span<const OpRules> concat_rules();
std::span<const OpRules> constant_rules();
std::span<const OpRules> depth_to_space_rules();
std::span<const OpRules> expand_tile_rules();
std::span<const OpRules> eye_like_rules();
std::span<const OpRules> gather_rules();
std::span<const OpRules> identity_rules();
std::span<const OpRules> non_zero_rules();
std::span<const OpRules> one_hot_rules();
std::span<const OpRules> pad_rules();
std::span<const OpRules> range_rules();
std::span<const OpRules> reshape_rules();
std::span<const OpRules> reverse_sequence_rules();
std::span<const OpRules> scatter_rules();
std::span<const OpRules> shape_rules();
std::span<const OpRules> slice_rules();
std::span<const OpRules> split_rules();
std::span<const OpRules> squeeze_rules();
std::span<const OpRules> tensor_scatter_rules();
std::span<const OpRules> transpose_rules();
std::span<const OpRules> trilu_rules();
std::span<const OpRules> unique_rules();
std::span<const OpRules> where_rules();
// text
std::span<const OpRules> string_rules();
std::span<const OpRules> tfidf_rules();
// training
std::span<const OpRules> gradient_rules();
std::span<const OpRules> optimizer_rules();
// vision
std::span<const OpRules> affine_grid_rules();
std::span<const OpRules> grid_sample_rules();
std::span<const OpRules> image_decoder_rules();
std::span<const OpRules> non_max_suppression_rules();
std::span<const OpRules> resize_rules();
std::span<const OpRules> roi_rules();
std::span<const OpRules> upsample_rules();

// long: a table, one family per line
inline std::span<const Family> op_families() {
  static constexpr Family all[] = {
      activation_rules,
      prelu_rules,
      softmax_rules,
      swiglu_rules,
      if_rules,
      loop_rules,
      scan_rules,
      sequence_map_rules,
      linger_elementwise_rules,
      linger_linear_rules,
      linger_matmul_rules,
      linger_normalization_rules,
      linger_pool_rules,
      linger_recurrent_rules,
      arithmetic_rules,
      bits_rules,
      cast_rules,
      clip_rules,
      cumulative_rules,
      det_rules,
      einsum_rules,
      logic_rules,
      loss_rules,
      matmul_rules,
      random_rules,
      unary_rules,
      variadic_rules,
      category_rules,
      feature_rules,
      linear_model_rules,
      map_rules,
      svm_rules,
      tree_ensemble_rules,
      attention_rules,
      batch_normalization_rules,
      causal_conv_rules,
      conv_rules,
      conv_transpose_rules,
      deform_conv_rules,
      dropout_rules,
      flex_attention_rules,
      global_pool_rules,
      instance_normalization_rules,
      layer_normalization_rules,
      linear_attention_rules,
      max_unpool_rules,
      normalization_rules,
      pool_rules,
      recurrent_rules,
      rotary_embedding_rules,
      dynamic_quantize_lstm_rules,
      gather_block_quantized_rules,
      matmul_nbits_rules,
      qlinear_matmul_rules,
      quantize_rules,
      arg_rules,
      reduce_rules,
      top_k_rules,
      optional_rules,
      sequence_rules,
      dft_rules,
      mel_weight_matrix_rules,
      stft_rules,
      window_rules,
      col2im_rules,
      compress_rules,
      concat_rules,
      constant_rules,
      depth_to_space_rules,
      expand_tile_rules,
      eye_like_rules,
      gather_rules,
      identity_rules,
      non_zero_rules,
      one_hot_rules,
      pad_rules,
      range_rules,
      reshape_rules,
      reverse_sequence_rules,
      scatter_rules,
      shape_rules,
      slice_rules,
      split_rules,
      squeeze_rules,
      tensor_scatter_rules,
      transpose_rules,
      trilu_rules,
      unique_rules,
      where_rules,
      string_rules,
      tfidf_rules,
      gradient_rules,
      optimizer_rules,
      affine_grid_rules,
      grid_sample_rules,
      image_decoder_rules,
      non_max_suppression_rules,
      resize_rules,
      roi_rules,
      upsample_rules,
  };
  return all;
}

}  // namespace cameo::ops
