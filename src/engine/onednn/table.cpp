#include "engine/emit.h"
#include "engine/onednn/emitters.h"
#include "engine/session.h"
#include "support/error.h"

namespace cameo::engine {

namespace {

// What oneDNN does not take (many axes, huge sizes, odd strides) is left to other kernels.
template <Emitter emit>
bool guarded(Compiler& c, NodeId n) {
  try {
    return emit(c, n);
  } catch (const dnnl::error&) {
    return false;
  }
}

}  // namespace

std::span<const EmitterRow> onednn_emitters() {
  static constexpr EmitterRow rows[] = {
      {"Conv", guarded<emit_conv>},
      {"ConvTranspose", guarded<emit_conv_transpose>},
      {"MaxPool", guarded<emit_pool>},
      {"AveragePool", guarded<emit_pool>},
      {"GlobalAveragePool", guarded<emit_global_pool>},
      {"GlobalMaxPool", guarded<emit_global_pool>},
      {"Gemm", guarded<emit_gemm>},
      {"MatMul", guarded<emit_matmul>},
      {"ConvInteger", guarded<emit_conv_integer>},
      {"QLinearConv", guarded<emit_conv_integer>},
      {"MatMulInteger", guarded<emit_matmul_integer>},
      {"QLinearMatMul", guarded<emit_qlinear_matmul>},
      {"MatMulNBits", emit_matmul_nbits},
      {"Attention", guarded<emit_attention>},
      {"LSTM", guarded<emit_lstm>},
      {"GRU", guarded<emit_gru>},
  };
  return load_onednn() ? std::span<const EmitterRow>(rows) : std::span<const EmitterRow>();
}

std::string onednn_version() {
  if (!load_onednn()) return "";
  const dnnl_version_t* v = dnnl_version();
  return cat(v->major, ".", v->minor, ".", v->patch);
}

}  // namespace cameo::engine
