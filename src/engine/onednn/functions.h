// The functions of oneDNN that we call, as pointers: the library is loaded when the first session asks for it, so that
// a command that runs no model does not pay for it, and one that finds no oneDNN does without.
#pragma once

#include <dnnl.h>

#include "support/layers.h"

namespace cameo::engine {

// clang-format off
#define CAMEO_ONEDNN_FUNCTIONS(X) \
  X(dnnl_dilated_convolution_forward_desc_init) X(dnnl_dilated_deconvolution_forward_desc_init) X(dnnl_engine_create) \
  X(dnnl_engine_destroy) X(dnnl_gru_forward_desc_init) X(dnnl_inner_product_forward_desc_init) \
  X(dnnl_lbr_gru_forward_desc_init) X(dnnl_lstm_forward_desc_init) X(dnnl_matmul_desc_init) X(dnnl_memory_create) \
  X(dnnl_memory_desc_equal) X(dnnl_memory_desc_get_size) X(dnnl_memory_desc_init_by_strides) \
  X(dnnl_memory_desc_init_by_tag) X(dnnl_memory_destroy) X(dnnl_memory_get_engine) X(dnnl_memory_get_memory_desc) \
  X(dnnl_memory_set_data_handle) X(dnnl_pooling_v2_forward_desc_init) X(dnnl_post_ops_append_eltwise) \
  X(dnnl_post_ops_append_sum) X(dnnl_post_ops_append_sum_v2) X(dnnl_post_ops_create) X(dnnl_post_ops_destroy) X(dnnl_post_ops_len) \
  X(dnnl_primitive_attr_create) X(dnnl_primitive_attr_destroy) X(dnnl_primitive_attr_set_post_ops) \
  X(dnnl_primitive_attr_set_scratchpad_mode) X(dnnl_primitive_attr_set_zero_points) X(dnnl_primitive_create) X(dnnl_primitive_desc_destroy) \
  X(dnnl_primitive_desc_iterator_create) X(dnnl_primitive_desc_iterator_destroy) X(dnnl_primitive_desc_iterator_fetch) \
  X(dnnl_primitive_desc_query) X(dnnl_primitive_desc_query_md) X(dnnl_primitive_destroy) X(dnnl_primitive_execute) \
  X(dnnl_reorder_primitive_desc_create) X(dnnl_sgemm) X(dnnl_stream_create) X(dnnl_stream_destroy) X(dnnl_stream_wait) \
  X(dnnl_version) X(dnnl_get_effective_cpu_isa)
// clang-format on

struct OneDnn {
#define X(name) decltype(&::name) name;
  CAMEO_ONEDNN_FUNCTIONS(X)
#undef X
};

extern OneDnn onednn;  // filled by load_onednn()
bool load_onednn();    // once; false where the library is not there, or is another one than this was compiled for

}  // namespace cameo::engine
