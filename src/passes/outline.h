// Parts of a graph as local functions: the opposite of inlining.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"
#include "support/error.h"

namespace cameo::passes {

struct OutlinedModule {
  std::string path;        // "layer1.0": the nodes whose place has this scope, or one below it
  std::string class_name;  // "torch.nn.modules.linear.Linear": domain and name of the function
};

// Every module becomes a call, inner ones first, so that functions call functions. Modules of one class that do the
// same share a function; their weights are its inputs. A module whose nodes are entangled with others stays as it is,
// with a note. Returns how many functions were made. `opset` is that of ai.onnx in the functions.
size_t outline_modules(Model& m, std::vector<OutlinedModule> modules, int64_t opset, DiagSink& sink);

}  // namespace cameo::passes
