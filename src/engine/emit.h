// Emitters: operator to fast step. Each looks at a node that is next in order and either makes a step of it (and of
// nodes it absorbs) or leaves it.
#pragma once

#include "engine/compiler.h"

namespace cameo::engine {

using Emitter = bool (*)(Compiler& c, NodeId n);
struct EmitterRow {
  std::string_view op;
  Emitter emit;
};

// Tables are of ONNX's operators, and of com.microsoft's that ONNX does not have. Others of these names are other
// operators: null.
const EmitterRow* find_row(std::span<const EmitterRow> rows, const OpInfo& op);
std::span<const EmitterRow> simd_emitters();    // our own vectorised kernels
std::span<const EmitterRow> vnni_emitters();    // those that need AVX-512 VNNI; empty on other processors
std::span<const EmitterRow> onednn_emitters();  // empty without oneDNN
bool onednn_adds_bytes_exactly();  // whether oneDNN computes products of bytes here that the reference would
// From one layout to another.
std::unique_ptr<Kernel> make_reorder(const Desc& from, const Desc& to);
// A dense desc of these sizes whose axes lie in that order.
Desc dense_desc(DType dtype, std::vector<int64_t> dims, const std::vector<size_t>& order);

}  // namespace cameo::engine
