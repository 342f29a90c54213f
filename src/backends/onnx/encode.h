// A canonical node in the encoding of a target version: the last step of legalisation, one node at a time.
#pragma once

#include <optional>
#include <string>

#include "ops/revision.h"

namespace cameo::onnx {

struct Encoding {
  EncodedNode node;
  std::optional<std::string> refusal;  // why this version cannot express it
};

// `version` is the target's version of the node's domain. Opaque nodes stay as they are.
// The result of the revisions is compared with the schema in force: an operand or attribute that it does not know,
// or one that it needs and does not get, is a refusal.
Encoding encode_node(const Graph& g, NodeId n, int64_t version);

}  // namespace cameo::onnx
