// What the rows of to_qdq.cpp write with: one node of linger, its operands as real numbers, and its result.
#pragma once

#include "ops/on.h"
#include "passes/linger/states.h"

namespace cameo::passes::linger {

struct QdqForm {
  bool exact = false;
  // ONNX Runtime 1.31 moves DequantizeLinear and puts a QuantizeLinear before it. Below opset 21 that is unsigned
  // unless there is a zero point, from there on it is refused if there is one.
  bool zero_points = false;
};

class Rewrite {
 public:
  Rewrite(Graph& g, NodeId n, const States& states, const QdqForm& form)
      : on(g, g[n].home, n), node(n), form_(form), g_(g), states_(states) {}

  const Node& self() const { return g_[node]; }
  template <class A>
  const A& attrs() const {
    return *self().as<A>();
  }
  bool has(size_t i) const { return g_.input(node, i).valid(); }
  ValueId in(size_t i) const { return g_.input(node, i); }
  const Fact& fact(ValueId v) const { return g_[v].fact; }
  std::optional<Tensor> constant(size_t i) const { return g_.constant(in(i)); }

  // Operand `i` in real numbers, by DequantizeLinear.
  ValueId real(size_t i);
  // A constant operand's whole numbers, moved by `f` before they are dequantised: weights in another order.
  ValueId real_constant(size_t i, const std::function<Tensor(const Tensor&)>& f);
  // Result 0 on its own grid.
  ValueId quantised(ValueId x) { return on_grid(x, *ops::linger::result_grid(self(), 0)); }
  ValueId on_grid(ValueId x, const Quantised& grid);
  ValueId dequantised(ValueId q, double scale);
  ValueId stepped(ValueId x, double scale);  // floor(x * scale + 0.5) / scale
  bool exact() const { return form_.exact; }
  [[noreturn]] void refuse(std::string why) const;

  On on;
  const NodeId node;

 private:
  ValueId whole_constant(const Tensor& t, const Quantised& grid);
  ValueId number(double v) { return on.number(v, DType::f32); }

  const QdqForm& form_;
  Graph& g_;
  const States& states_;
};

using Results = std::vector<ValueId>;
struct Row {
  std::string_view op;
  Results (*write)(Rewrite& r);
};
std::span<const Row> plain_rows();
std::span<const Row> window_rows();
std::span<const Row> recurrent_rows();

}  // namespace cameo::passes::linger
