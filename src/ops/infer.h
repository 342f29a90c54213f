// Shape and type inference: what an operator's rule sees, and the driver over a graph.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/describe.h"
#include "ir/graph.h"
#include "ops/op_def.h"
#include "support/error.h"

namespace cameo::ops {

// The view of one node that `infer(const op::X&, Infer&)` gets. Outputs start as the schema gives them (element types
// bound from the inputs' type variables); a rule sets the shapes, and element types where the schema cannot tell.
// Unless the rule says `partial = true`, it is called only when every tensor input that is present has a known rank.
class Infer {
 public:
  Infer(Graph& graph, NodeId node) : graph_(graph), node_(node) {}

  size_t in_count() const { return graph_[node_].inputs.size(); }
  bool has(size_t i) const { return graph_.input(node_, i).valid(); }
  const Fact& in(size_t i) const;  // an empty fact when absent
  const Type& type(size_t i) const { return in(i).type; }
  DType dtype(size_t i) const { return in(i).dtype(); }
  bool has_rank(size_t i) const { return in(i).has_rank(); }
  int64_t rank(size_t i) const { return in(i).rank(); }
  const Shape& shape(size_t i) const { return in(i).shape(); }
  Dim dim(size_t i, int64_t axis) const { return shape(i)[static_cast<size_t>(axis)]; }
  // Known elements of an integer input, symbolic or not.
  std::optional<std::vector<Dim>> ints(size_t i) const { return in(i).ints(); }
  // Known elements as plain numbers; nullopt unless all are literal.
  std::optional<std::vector<int64_t>> literal_ints(size_t i) const;
  // Contents fixed for ever (initializer or folded constant); nullptr when not.
  const Tensor* constant(size_t i) const;
  // How many elements a 1-D input has, when known: the length of a shape vector gives the output's rank.
  std::optional<int64_t> length(size_t i) const;

  size_t out_count() const { return graph_[node_].outputs.size(); }
  void out(size_t i, Shape shape);  // element type from the schema
  void out(size_t i, DType dtype, Shape shape);
  void out(size_t i, Type type);
  void out_like(size_t i, size_t input);  // the input's type; contents are not copied
  // Of an output whose type was set. Elements that are all literal become a tensor, so that folding goes on from there.
  void out_contents(size_t i, std::vector<Dim> elements);
  void out_contents(size_t i, std::shared_ptr<const Contents> contents);

  // Axes. Throws "infer.axis" when outside [-rank, rank).
  int64_t axis(int64_t axis, int64_t rank) const;
  std::vector<int64_t> axes(std::span<const int64_t> axes, int64_t rank) const;  // normalised; duplicates throw
  // Sizes that must be equal. Returns the more telling one; literals that differ throw "infer.mismatch"; what cannot be
  // decided is assumed (and recorded in the graph's facts when both are symbolic).
  Dim same(Dim a, Dim b, std::string_view what) const;
  Shape broadcast(std::span<const size_t> inputs) const;  // numpy's rule over the shapes of these inputs
  Shape broadcast_shapes(const Shape& a, const Shape& b) const;
  Dim fresh(std::string_view hint = "") const { return graph_.dims().fresh(hint); }  // a size that depends on data
  Shape fresh_shape(int64_t rank) const;

  // Control flow. Region `i` with these facts on its inputs, inferred; gives its outputs' facts.
  std::vector<Fact> region(size_t i, std::span<const Fact> inputs);
  RegionId region_id(size_t i) const { return graph_[node_].regions[i]; }

  const Node& node() const { return graph_[node_]; }
  Graph& graph() const { return graph_; }
  [[noreturn]] void fail(std::string_view code, std::string what) const;  // with the node's place
  std::function<void(RegionId)> infer_region;                             // set by the driver
  std::vector<Diag>* findings = nullptr;  // the driver's; a trial inference of a body drops what it added
  bool real = false;                      // InferOptions::real

 private:
  Graph& graph_;
  NodeId node_;
};

struct InferOptions {
  bool strict = false;        // the first finding throws
  bool fold = true;           // evaluate small nodes whose inputs are all known
  bool keep_declared = true;  // merge what value_info declared; contradictions are findings
  int64_t max_fold_elements = 1024;
  // The gate before compute (gate.h): operands have the types that kernels will get, so element types must be what the
  // schema says, declarations are ignored, and findings in bodies wait until a body runs.
  bool real = false;
};
struct InferResult {
  std::vector<Diag> findings;  // per node, why its rule failed
  size_t nodes = 0, unknown_values = 0;
};
// Infers every region from the main one. Nodes that call one of `functions` are inferred by instantiating the body.
InferResult infer(Graph& graph, std::span<const LocalFunction> functions = {}, const InferOptions& options = {});
// One node, now: what `On` does after every emission. Throws what the rule throws.
void infer_node(Graph& graph, NodeId node, const InferOptions& options = {});

}  // namespace cameo::ops
