// Names of an exported graph: of values and weights, outputs chosen by name, places of nodes.
#pragma once

#include <string>
#include <vector>

#include "staging/export.h"

namespace cameo::api {

// Results of named nodes are called after them: "layer1.0/Conv" gives "layer1.0/Conv_output_0".
void name_values(ir::Graph& g);

// Makes outputs of inner values by value name, node name or module path (all that leaves the module), with * and ?.
// Throws use.keep-outputs for a pattern that matches nothing.
void keep_outputs(ir::Graph& g, const std::vector<std::string>& patterns);

// Nodes are placed where the user wrote them, as far as the archive tells, in place of where the archive has them.
void user_places(ir::Graph& g, const ExportTrace& trace);

// Every node's place into its doc string.
void doc_strings(ir::Graph& g);

// Weights under the numbers 0, 1, ... in their order.
void number_weights(ir::Graph& g);

// "model.py:31"; empty when nothing is known.
std::string place_of(const ir::Node& n);

}  // namespace cameo::api
