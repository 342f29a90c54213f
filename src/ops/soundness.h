// The gate before rewriting. Rules, expansions and passes index operands, attributes and sizes as the shape rule of
// their node checked them; this says of every node whether its rule did.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "cameo/diag.h"
#include "ir/graph.h"

namespace cameo::ops {

// Whether a node's shape rule runs on what is known: every operand that is there has a rank, or the rule needs none.
bool rule_runs(const Graph& g, NodeId n);

// Whether it has all operands that its schema demands.
bool has_operands(const Node& n);

// What its outputs are is declared, and its rule did not run to judge that: nothing holds between the two.
bool is_unjudged(const Graph& g, NodeId n);

// Why the node's shape rule refuses what the graph gives it; nothing when it does not. Facts stay as they are.
std::optional<Diag> fault_of(Graph& g, NodeId n);

struct Fault {
  Diag diag;
  bool certain = false;  // every run comes to the node; others stand in bodies, which may never run
};

struct Soundness {
  std::map<NodeId, Fault> faults;  // nodes that can never run
  std::vector<Diag> contradicted;  // declared types that are not what the nodes compute; inference's stand
  std::vector<bool> aside;         // by node: at fault or unjudged; passes leave it alone

  bool is_aside(NodeId n) const { return n.index < aside.size() && aside[n.index]; }
};

// Infers the types of the model, and judges every node. Linear; nodes are looked at one by one only where one is at
// fault.
Soundness judge(Model& m);

// The same while a pass goes on: what it learns of a node's operands may show that the node can never run. Without a
// judgement only nodes that lack operands are set aside.
class Standing {
 public:
  Standing() = default;
  explicit Standing(const Soundness& judged)
      : aside_(judged.aside), any_fault_(!judged.faults.empty()), judged_(true) {}

  bool is_aside(Graph& g, NodeId n);
  void judge_new(Graph& g, uint32_t first_node);  // copies of bodies, which were not inferred
  void ask_again(NodeId n);                       // more is known of its operands

 private:
  std::vector<bool> aside_, asked_before_;
  bool any_fault_ = false, judged_ = false;
};

// `judge` for those who rewrite a whole model: throws the certain faults, and gives what else deserves a warning.
std::vector<Diag> admit(Model& m);
void refuse_certain(const Model& m, const Soundness& s);
std::vector<Diag> warnings_of(const Model& m, const Soundness& s);  // one for all contradicted declarations

}  // namespace cameo::ops
