#include "ops/eval.h"

#include <algorithm>

#include "ops/custom.h"
#include "ops/gate.h"

namespace cameo::ops {

const Datum& Eval::datum(size_t i) const {
  if (!has(i)) fail("eval.input", cat("input ", i, " is missing"));
  return *inputs_[i];
}

const Tensor& Eval::in(size_t i) const {
  const Datum& d = datum(i);
  if (d.kind != Datum::Kind::tensor) fail("eval.input", cat("input ", i, " is not a tensor"));
  return d.tensor;
}

int64_t Eval::int_scalar(size_t i) const {
  if (in(i).count() != 1) fail("eval.input", cat("input ", i, " has ", in(i).count(), " elements where one is wanted"));
  return in(i).int_at(0);
}

double Eval::double_scalar(size_t i) const {
  if (in(i).count() != 1) fail("eval.input", cat("input ", i, " has ", in(i).count(), " elements where one is wanted"));
  return in(i).double_at(0);
}

void Eval::out(size_t i, Datum value) {
  if (i < outputs_.size()) outputs_[i] = std::move(value);
}

int64_t Eval::axis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) fail("eval.axis", cat("axis ", axis, " is outside a tensor of rank ", rank));
  return axis < 0 ? axis + rank : axis;
}

std::vector<int64_t> Eval::axes(std::vector<int64_t> axes, int64_t rank) {
  for (size_t i = 0; i < axes.size(); ++i) {
    axes[i] = axis(axes[i], rank);
    if (std::find(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(i), axes[i]) !=
        axes.begin() + static_cast<std::ptrdiff_t>(i))
      fail("eval.axis", cat("axis ", axes[i], " is given twice"));
  }
  return axes;
}

std::vector<Datum> evaluate_node(const Node& node, std::span<const Datum* const> inputs) {
  auto nothing = results_of_nothing(check_call(node, inputs));
  return nothing ? *std::move(nothing) : evaluate_checked(node, inputs);
}

std::vector<Datum> evaluate_checked(const Node& node, std::span<const Datum* const> inputs) {
  if (node.op->is_opaque() || !def(*node.op).rules.eval) throw no_kernel(node);
  Eval k(inputs, node.outputs.size());
  def(*node.op).rules.eval(node.attrs.get(), k);
  return std::move(k.results());
}

}  // namespace cameo::ops
