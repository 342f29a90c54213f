// The work behind legalise.h, one node at a time.
#pragma once

#include <unordered_map>

#include "backends/onnx/encode.h"
#include "backends/onnx/legalise.h"
#include "ops/on.h"
#include "ops/soundness.h"

namespace cameo::onnx {

// Read at that opset and not touched since, or not of ai.onnx: nothing to do.
bool is_settled(const Graph& g, NodeId n, int64_t opset);

class Legaliser {
 public:
  Legaliser(Graph& g, int64_t opset, const LegaliseOptions& options, const Soundness& judged)
      : g_(g), on_(g, g.main()), opset_(opset), options_(options), judged_(judged) {}

  void region(RegionId r);
  void share_constants();

  LegaliseResult result;

 private:
  // A node of the model, as findings name it; what its expansion emits belongs to it.
  struct Root {
    std::string name;
    Loc where;
    int depth = 0;
    bool refused = false;
  };

  // Handles a node and returns the one to look at next: the first of its expansion, or the one after it.
  NodeId step(NodeId n);
  bool wants_constants(NodeId n) const;
  void fold_known_inputs(NodeId n);
  void erase_unused(NodeId n);
  bool expand(NodeId n, NodeId& next);
  bool expand_with(const Expansion& e, NodeId n, std::string& why);
  std::optional<std::string> put_in_place(NodeId n, std::vector<ValueId> values, uint32_t first_node);
  void note_parts(NodeId n, uint32_t first_node);
  void sweep(uint32_t first_node, uint32_t first_value);

  // legal_types.cpp
  std::optional<std::string> fit_types(NodeId n);
  std::optional<std::string> fit_type_variable(NodeId n, const OpDef& op, const SchemaVersion& schema, int variable,
                                               const std::vector<ValueId>& operands);
  bool cast_exists(DType from, DType to) const;
  TypeSet types_of(NodeId n, const SchemaVersion& schema, const Formal& f) const;
  ValueId cast(ValueId v, DType to, NodeId before);
  void cast_back(NodeId n, size_t output, DType narrow, DType wide);

  Root& root(NodeId n);
  void refuse(NodeId n, std::string why, std::string hint = "");
  bool sayable(NodeId n, int64_t opset) const;

  Graph& g_;
  On on_;
  int64_t opset_;
  const LegaliseOptions& options_;
  const Soundness& judged_;
  std::vector<Root> roots_;
  std::unordered_map<NodeId, size_t> root_of_;
};

}  // namespace cameo::onnx
