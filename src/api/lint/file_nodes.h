// A model in the words of its own file: targets read those, not the newest encoding that a graph is in.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "ops/schema.h"

namespace cameo::linting {
using namespace api;

struct FileNode {
  NodeId id;  // of the last node that the reader made of it
  std::string domain, op;
  int64_t version = 0;                         // of its domain, as the model imports it
  const ops::SchemaVersion* schema = nullptr;  // in force there; null: not known
  NamedAttrs attrs;                            // those that are set; tensors and bodies without their contents
  std::vector<ValueId> inputs, outputs;        // none: absent
  int depth = 0;                               // bodies around it

  ValueId input(size_t i) const { return i < inputs.size() ? inputs[i] : ValueId(); }
  ValueId output(size_t i) const { return i < outputs.size() ? outputs[i] : ValueId(); }
  AttrValue attribute(std::string_view name) const;  // or the schema's default; monostate: neither
  int since() const { return schema ? schema->since : static_cast<int>(version); }
};

struct FileModel {
  ir::Model model;  // inferred, with the calls of local functions replaced by their nodes
  std::map<std::string, int64_t> opsets;
  bool contradicted = false;        // a shape that it declares is not what its nodes compute
  size_t functions = 0;             // that it had
  std::vector<FileNode> nodes;      // bodies after their node
  std::vector<size_t> places;       // of nodes in the order of their region, by their number
  std::set<std::string> operators;  // their names
};

// Throws convert.* where the model cannot be written in its opset.
FileModel file_model(ir::Model model, int64_t opset);

}  // namespace cameo::linting
