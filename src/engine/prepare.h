// What is done to a graph before it is planned.
#pragma once

#include <span>

#include "ir/graph.h"

namespace cameo::engine {

// Once per session, whatever the sizes: nodes on constants become initializers, batch norms go into convolutions.
void prepare_once(Graph& g, bool onednn);
void widen_halves(Graph& g);               // a part of it: f16 and bf16 computed in f32
void use_integers(Graph& g, bool onednn);  // a part of it: products between DequantizeLinear and QuantizeLinear
// Per sizes: operators that are written as several nodes (Gelu, Swish, attention, global pooling) become one node.
void fuse_operators(Graph& g, bool attention);
bool fuse_attention(Graph& g, NodeId product);  // the MatMul with the values
bool has_operands(const Node& n);  // all that its schema demands; what is rewritten before it is inferred may lack some

}  // namespace cameo::engine
