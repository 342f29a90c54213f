// What a reference kernel sees: `static void eval(const op::Relu& a, Eval& k)`.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "kernels/carrier.h"
#include "kernels/datum.h"
#include "kernels/move.h"
#include "ops/generated/attributes.h"
#include "ops/op_def.h"
#include "support/error.h"

namespace cameo::ops {

class Eval {
 public:
  // Null pointers stand for absent optional inputs.
  Eval(std::span<const Datum* const> inputs, size_t outputs) : inputs_(inputs), outputs_(outputs) {}

  size_t in_count() const { return inputs_.size(); }
  bool has(size_t i) const { return i < inputs_.size() && inputs_[i]; }
  const Tensor& in(size_t i) const;  // throws "eval.input" when it is absent or no tensor
  const Datum& datum(size_t i) const;
  std::vector<int64_t> ints(size_t i) const { return in(i).to_ints(); }
  int64_t int_scalar(size_t i) const;  // of a one-element tensor
  double double_scalar(size_t i) const;

  size_t out_count() const { return outputs_.size(); }
  void out(size_t i, Datum value);  // ignored when the node has fewer outputs
  std::vector<Datum>& results() { return outputs_; }

  // Axes. Throws "eval.axis" when outside [-rank, rank).
  static int64_t axis(int64_t axis, int64_t rank);
  static std::vector<int64_t> axes(std::vector<int64_t> axes,
                                   int64_t rank);  // normalised; one that is given twice throws
  [[noreturn]] static void fail(std::string_view code, std::string what) { throw error(code, std::move(what)); }

  // Runs region `i` of the node; set by the code that runs the graph.
  std::function<std::vector<Datum>(size_t region, std::vector<Datum> inputs)> run_region;
  // The inferred type of output `i`; set by the code that runs the graph. Loops without an iteration need it.
  std::function<Type(size_t)> out_type;
  std::function<bool(size_t region)> has_region;  // false where an optional body is absent
  std::function<uint64_t()> seed;                 // for random operators without a seed attribute

 private:
  std::span<const Datum* const> inputs_;
  std::vector<Datum> outputs_;
};

// One node on known inputs, after the check of gate.h. Throws "eval.no-kernel" when the operator has none.
std::vector<Datum> evaluate_node(const Node& node, std::span<const Datum* const> inputs);
// The same without the check. Precondition: the node's shape rule accepted operands of these types.
std::vector<Datum> evaluate_checked(const Node& node, std::span<const Datum* const> inputs);

}  // namespace cameo::ops
