#include "engine/emit.h"
#include "engine/onednn/emitters.h"
#include "engine/session.h"
#include "support/error.h"

namespace cameo {

namespace engine {

std::span<const EmitterRow> onednn_emitters() {
  static constexpr EmitterRow rows[] = {
      {"Conv", emit_conv},
      {"ConvTranspose", emit_conv_transpose},
      {"MaxPool", emit_pool},
      {"AveragePool", emit_pool},
      {"GlobalAveragePool", emit_global_pool},
      {"GlobalMaxPool", emit_global_pool},
      {"Gemm", emit_gemm},
      {"MatMul", emit_matmul},
      {"ConvInteger", emit_conv_integer},
      {"QLinearConv", emit_conv_integer},
      {"MatMulInteger", emit_matmul_integer},
      {"QLinearMatMul", emit_qlinear_matmul},
      {"Attention", emit_attention},
      {"LSTM", emit_lstm},
      {"GRU", emit_gru},
  };
  return load_onednn() ? std::span<const EmitterRow>(rows) : std::span<const EmitterRow>();
}

}  // namespace engine

std::string onednn_version() {
  if (!engine::load_onednn()) return "";
  const dnnl_version_t* v = dnnl_version();
  return cat(v->major, ".", v->minor, ".", v->patch);
}

}  // namespace cameo
