// Which nodes of a graph are quantized for a target, and which values get QuantizeLinear and DequantizeLinear.
#pragma once

#include <map>
#include <set>

#include "ir/graph.h"
#include "quant/schemes/target.h"

namespace cameo::quant {

class Selection {
 public:
  // `keep`: nodes that stay float. Only nodes of the main graph are looked at: bodies stay as they are.
  Selection(const Graph& g, const Target& target, const std::set<NodeId>& keep);

  bool has(NodeId n) const { return chosen_.contains(n); }
  const std::set<NodeId>& nodes() const { return chosen_; }  // activations that became part of a node excepted
  // Values that get Q and DQ; constants and what is quantized already are not among them.
  const std::set<ValueId>& values() const { return values_; }
  // Every reader of the value gets the quantized form, not only those that are quantized.
  bool for_all_readers(ValueId v) const;
  bool is_chosen_result(ValueId v) const;  // a chosen node computes it, its activation included
  // Operands of a chosen node that are read quantized; a product's weight and bias are not among them.
  std::vector<size_t> operands(NodeId n) const;
  // The activation that is part of the node; none: there is none. And its result, or the node's.
  NodeId activation(NodeId n) const;
  ValueId result(NodeId n) const;
  // Values with one scale have one representative.
  ValueId group(ValueId v) const;

 private:
  Role role(NodeId n) const;
  bool candidate(NodeId n) const;
  bool quantized_anyway(ValueId v) const;
  bool read_by_chosen(ValueId v) const;
  bool stays(NodeId n) const;
  bool is_thin(NodeId n) const;
  void leave_thin_float();
  bool joins_product(ValueId v) const;
  bool is_trained(ValueId v) const;
  void collect_values();
  void unite(ValueId a, ValueId b);

  const Graph& g_;
  const Target& target_;
  bool trained_ = false;  // the model holds Q and DQ of activations: only what was trained so is quantized
  std::set<NodeId> chosen_;
  std::set<ValueId> values_;
  std::map<ValueId, ValueId> parents_;
};

}  // namespace cameo::quant
