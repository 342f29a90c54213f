// Writing graphs: `on.Relu(x)` appends a Relu node and gives its output, with type and shape inferred at once.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "ir/graph.h"
#include "ops/generated/attributes.h"
#include "ops/op_def.h"

namespace cameo::ops {

class On {
 public:
  // Emits at the end of `region`, or before `before` when that is valid.
  On(Graph& graph, RegionId region, NodeId before = {}) : graph_(&graph), region_(region), before_(before) {}
  virtual ~On() = default;

  Graph& graph() const { return *graph_; }
  RegionId region() const { return region_; }
  void move_to(RegionId region, NodeId before = {}) { region_ = region, before_ = before; }

  // Emits any operator. The overridable way that all others take.
  virtual std::vector<ValueId> emit(const OpDef& op, std::shared_ptr<const void> attrs, std::vector<ValueId> inputs,
                                    size_t outputs);
  template <class Attrs>
  std::vector<ValueId> make(Attrs attrs, std::vector<ValueId> inputs, size_t outputs) {
    return emit(op_of<Attrs>(), std::make_shared<const Attrs>(std::move(attrs)), std::move(inputs), outputs);
  }

  // Constants are initializers of the main region; equal small ones are made once per On.
  virtual ValueId constant(const Tensor& t);
  ValueId ints(std::span<const int64_t> v) { return constant(Tensor::ints(v)); }
  ValueId ints(std::initializer_list<int64_t> v) { return ints(std::span<const int64_t>(v.begin(), v.size())); }
  ValueId int_scalar(int64_t v) { return constant(Tensor::int_scalar(v)); }
  // A 0-d constant of `like`'s element type, rounded once from double.
  ValueId number(double v, DType dtype);
  ValueId number_like(double v, ValueId like) { return number(v, fact(like).dtype()); }

  const Fact& fact(ValueId v) const { return (*graph_)[v].fact; }
  DType dtype(ValueId v) const { return fact(v).dtype(); }
  bool has_rank(ValueId v) const { return fact(v).has_rank(); }
  int64_t rank(ValueId v) const { return fact(v).rank(); }
  const ir::Shape& shape(ValueId v) const { return fact(v).shape(); }

  // Drops remembered constants from this value on: the graph was rolled back.
  void forget_constants_from(uint32_t first_value);

  // Cast that emits nothing when the type is right already.
  ValueId cast(ValueId v, DType to);

#include "ops/generated/on_methods.inc"

 private:
  static std::vector<ValueId> joined(std::vector<ValueId> head, std::span<const ValueId> tail);

  Graph* graph_;
  RegionId region_;
  NodeId before_;
  std::vector<ValueId> constants_;
};

}  // namespace cameo::ops
