// Makes a model sayable in older opsets: operators that the target lacks are expanded, types that its schemas do not
// admit are widened around the operator. What is left is encoded node by node (encode.h).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "ops/schema.h"
#include "support/error.h"

namespace cameo::onnx {

// What an engine lacks although the opset has it. A node for which nothing else is known stays as it is.
struct EngineLimits {
  std::function<bool(const Graph& g, NodeId n)> lacks;  // the operator: its expansion is used at any opset
  // Element types that the engine takes in place of a schema's; gives the schema's own where nothing is known.
  std::function<TypeSet(NodeId n, const SchemaVersion& schema, const Formal& f)> admits;
};

struct LegaliseOptions {
  bool lossy = false;            // expansions of class domain and approximate are allowed
  bool functions_follow = true;  // local functions go to the same opset; else each stays at its own
  const EngineLimits* limits = nullptr;
};

struct LegaliseResult {
  std::vector<Diag> refusals;  // one per node of the model, naming the lowest opset that works
  std::vector<Diag> notes;     // lossy expansions that were made
  size_t expanded = 0, widened = 0;
};

// Whether there is anything to do: some node was touched, or read at another opset.
bool needs_legalising(const Model& m, int64_t opset, const LegaliseOptions& options = {});

// Changes `m` so that each of its nodes, bodies included, can be encoded at `opset` of ai.onnx. Nodes that were read at
// that opset and not touched since are left alone. Local functions are inlined where the opset is below theirs, because
// what to do may depend on types that only the call knows. Types are inferred on the way.
LegaliseResult legalise(Model& m, int64_t opset, const LegaliseOptions& options = {});

}  // namespace cameo::onnx
