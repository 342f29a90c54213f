// What oneDNN computes, one emitter per family of operators.
#pragma once

#include "engine/compiler.h"
#include "engine/onednn/primitive.h"

namespace cameo::engine {

bool emit_conv(Compiler& c, NodeId n);
bool emit_conv_transpose(Compiler& c, NodeId n);
bool emit_pool(Compiler& c, NodeId n);         // MaxPool, AveragePool
bool emit_global_pool(Compiler& c, NodeId n);  // GlobalAveragePool, GlobalMaxPool
bool emit_gemm(Compiler& c, NodeId n);
bool emit_matmul(Compiler& c, NodeId n);
bool emit_conv_integer(Compiler& c, NodeId n);  // ConvInteger, QLinearConv
bool emit_matmul_integer(Compiler& c, NodeId n);
bool emit_qlinear_matmul(Compiler& c, NodeId n);
bool emit_matmul_nbits(Compiler& c, NodeId n);
bool emit_attention(Compiler& c, NodeId n);
bool emit_lstm(Compiler& c, NodeId n);
bool emit_lstm_rows(Compiler& c, NodeId n, bool reverse);  // for few sequences; precondition: what emit_lstm checks
bool emit_gru(Compiler& c, NodeId n);

// x[m,k] times the rows of weights[n,k], plus bias[n], as a step; the slot of the result [m,n], or no_slot.
struct ProductSize {
  int64_t m, k, n;
};
SlotId emit_constant_product(Compiler& c, NodeId n, SlotId x, const ProductSize& size, ValueId key,
                             std::string_view what, const Tensor& weights, const Tensor& bias);

std::unique_ptr<Kernel> reorder(const Md& from, const Md& to);
// Whether an optional bias is absent, or one float per channel.
inline bool is_bias(const Compiler& c, ValueId bias, int64_t channels) {
  return !bias || (c.is_f32(bias) && c.desc(bias)->count() == channels);
}

// The step of a kernel and the nodes it absorbed.
void finish_step(Compiler& c, NodeId n, PostOps& post, std::unique_ptr<Kernel> kernel, std::vector<SlotId> in,
                 const Md& dst);
template <class Pd>
void finish(Compiler& c, NodeId n, PostOps& post, dnnl::primitive primitive, std::vector<PrimitiveKernel::Arg> args,
            std::vector<SlotId> in, const Pd& pd) {
  finish_step(c, n, post,
              std::make_unique<PrimitiveKernel>(std::move(primitive), std::move(args), pd.scratchpad_desc(),
                                                pd.impl_info_str()),
              std::move(in), pd.dst_desc());
}
// The same of a primitive that takes data, weights (both in `in`) and perhaps a bias.
template <class Pd>
void finish_weighted(Compiler& c, NodeId n, PostOps& post, dnnl::primitive primitive, std::vector<SlotId> in,
                     ValueId bias, const Md& bias_layout, const Pd& pd) {
  std::vector<PrimitiveKernel::Arg> args{{DNNL_ARG_SRC, pd.src_desc(), 0, false},
                                         {DNNL_ARG_WEIGHTS, pd.weights_desc(), 1, false},
                                         {DNNL_ARG_DST, pd.dst_desc(), 0, true}};
  if (bias) {
    args.push_back({DNNL_ARG_BIAS, bias_layout, in.size(), false});
    in.push_back(c.plain(bias));
  }
  finish(c, n, post, std::move(primitive), std::move(args), std::move(in), pd);
}

}  // namespace cameo::engine
