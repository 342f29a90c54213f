// oneDNN's C++ interface, whose calls of the C functions go through the pointers of functions.h. Included instead of
// dnnl.hpp.
#pragma once

#include "engine/onednn/functions.h"

#define dnnl_dilated_convolution_forward_desc_init ::cameo::engine::onednn.dnnl_dilated_convolution_forward_desc_init
#define dnnl_dilated_deconvolution_forward_desc_init \
  ::cameo::engine::onednn.dnnl_dilated_deconvolution_forward_desc_init
#define dnnl_engine_create ::cameo::engine::onednn.dnnl_engine_create
#define dnnl_engine_destroy ::cameo::engine::onednn.dnnl_engine_destroy
#define dnnl_gru_forward_desc_init ::cameo::engine::onednn.dnnl_gru_forward_desc_init
#define dnnl_inner_product_forward_desc_init ::cameo::engine::onednn.dnnl_inner_product_forward_desc_init
#define dnnl_lbr_gru_forward_desc_init ::cameo::engine::onednn.dnnl_lbr_gru_forward_desc_init
#define dnnl_lstm_forward_desc_init ::cameo::engine::onednn.dnnl_lstm_forward_desc_init
#define dnnl_matmul_desc_init ::cameo::engine::onednn.dnnl_matmul_desc_init
#define dnnl_memory_create ::cameo::engine::onednn.dnnl_memory_create
#define dnnl_memory_desc_equal ::cameo::engine::onednn.dnnl_memory_desc_equal
#define dnnl_memory_desc_get_size ::cameo::engine::onednn.dnnl_memory_desc_get_size
#define dnnl_memory_desc_init_by_strides ::cameo::engine::onednn.dnnl_memory_desc_init_by_strides
#define dnnl_memory_desc_init_by_tag ::cameo::engine::onednn.dnnl_memory_desc_init_by_tag
#define dnnl_memory_destroy ::cameo::engine::onednn.dnnl_memory_destroy
#define dnnl_memory_get_engine ::cameo::engine::onednn.dnnl_memory_get_engine
#define dnnl_memory_get_memory_desc ::cameo::engine::onednn.dnnl_memory_get_memory_desc
#define dnnl_memory_set_data_handle ::cameo::engine::onednn.dnnl_memory_set_data_handle
#define dnnl_pooling_v2_forward_desc_init ::cameo::engine::onednn.dnnl_pooling_v2_forward_desc_init
#define dnnl_post_ops_append_eltwise ::cameo::engine::onednn.dnnl_post_ops_append_eltwise
#define dnnl_post_ops_append_sum ::cameo::engine::onednn.dnnl_post_ops_append_sum
#define dnnl_post_ops_append_sum_v2 ::cameo::engine::onednn.dnnl_post_ops_append_sum_v2
#define dnnl_post_ops_create ::cameo::engine::onednn.dnnl_post_ops_create
#define dnnl_post_ops_destroy ::cameo::engine::onednn.dnnl_post_ops_destroy
#define dnnl_post_ops_len ::cameo::engine::onednn.dnnl_post_ops_len
#define dnnl_primitive_attr_create ::cameo::engine::onednn.dnnl_primitive_attr_create
#define dnnl_primitive_attr_destroy ::cameo::engine::onednn.dnnl_primitive_attr_destroy
#define dnnl_primitive_attr_set_post_ops ::cameo::engine::onednn.dnnl_primitive_attr_set_post_ops
#define dnnl_primitive_attr_set_scratchpad_mode ::cameo::engine::onednn.dnnl_primitive_attr_set_scratchpad_mode
#define dnnl_primitive_attr_set_zero_points ::cameo::engine::onednn.dnnl_primitive_attr_set_zero_points
#define dnnl_primitive_create ::cameo::engine::onednn.dnnl_primitive_create
#define dnnl_primitive_desc_destroy ::cameo::engine::onednn.dnnl_primitive_desc_destroy
#define dnnl_primitive_desc_iterator_create ::cameo::engine::onednn.dnnl_primitive_desc_iterator_create
#define dnnl_primitive_desc_iterator_destroy ::cameo::engine::onednn.dnnl_primitive_desc_iterator_destroy
#define dnnl_primitive_desc_iterator_fetch ::cameo::engine::onednn.dnnl_primitive_desc_iterator_fetch
#define dnnl_primitive_desc_query ::cameo::engine::onednn.dnnl_primitive_desc_query
#define dnnl_primitive_desc_query_md ::cameo::engine::onednn.dnnl_primitive_desc_query_md
#define dnnl_primitive_destroy ::cameo::engine::onednn.dnnl_primitive_destroy
#define dnnl_primitive_execute ::cameo::engine::onednn.dnnl_primitive_execute
#define dnnl_reorder_primitive_desc_create ::cameo::engine::onednn.dnnl_reorder_primitive_desc_create
#define dnnl_sgemm ::cameo::engine::onednn.dnnl_sgemm
#define dnnl_stream_create ::cameo::engine::onednn.dnnl_stream_create
#define dnnl_stream_destroy ::cameo::engine::onednn.dnnl_stream_destroy
#define dnnl_stream_wait ::cameo::engine::onednn.dnnl_stream_wait
#define dnnl_get_effective_cpu_isa ::cameo::engine::onednn.dnnl_get_effective_cpu_isa
#define dnnl_version ::cameo::engine::onednn.dnnl_version

#include <dnnl.hpp>
