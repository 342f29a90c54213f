// Graphs as text: ONNX's text syntax, canonical. The same graph gives the same text, whatever order its nodes were made
// in.
#pragma once

#include <functional>
#include <string>

#include "ir/graph.h"
#include "ir/tensor_table.h"

namespace cameo::backends {

struct PrintOptions {
  bool header = true;           // versions, producer, metadata. The opset is that of the encoding inside: the newest
  bool value_info = true;       // types of inner values
  bool notes = true;            // names of nodes, doc strings, metadata
  bool canonical_order = true;  // else nodes and initializers as they are listed
  bool one_line = false;
  int64_t max_elements = 64;                   // larger tensors are printed as #hash
  TensorTable* tensors = nullptr;              // collects what #hashes stand for
  std::function<std::string(NodeId)> comment;  // "# ..." behind a node's line; empty: none
  bool onnx_only = false;                      // nothing but what ONNX's own parser reads; tensors in full
};

// parse_text reads it back to an equal model, given the tensors.
std::string print_text(const Model& m, const PrintOptions& options = {});
// Only the main graph: no header, no functions. For messages and debugging; works on any graph.
std::string print_text(const Graph& g, const PrintOptions& options = {});

}  // namespace cameo::backends
