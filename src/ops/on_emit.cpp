#include "kernels/carrier.h"
#include "ops/infer.h"
#include "ops/on.h"

namespace cameo::ops {

std::vector<ValueId> On::emit(const OpDef& op, std::shared_ptr<const void> attrs, std::vector<ValueId> inputs,
                              size_t outputs) {
  while (!inputs.empty() && !inputs.back()) inputs.pop_back();
  const NodeId n = graph_->add_node(region_, op, std::move(attrs), std::move(inputs), outputs, before_);
  infer_node(*graph_, n);
  return (*graph_)[n].outputs;
}

ValueId On::constant(const Tensor& t) {
  constexpr int64_t shared_up_to = 64;
  if (t.count() <= shared_up_to)
    for (const ValueId v : constants_)
      if (const Tensor* known = (*graph_)[v].fact.tensor();
          known && (*graph_)[v].kind == Value::Kind::initializer && *known == t)
        return v;
  const ValueId v = graph_->add_constant(t);
  if (t.count() <= shared_up_to) constants_.push_back(v);
  return v;
}

void On::forget_constants_from(uint32_t first_value) {
  std::erase_if(constants_, [&](ValueId v) { return v.index >= first_value; });
}

ValueId On::number(double v, DType dtype) { return constant(full(dtype, {}, v)); }

ValueId On::cast(ValueId v, DType to) { return dtype(v) == to ? v : Cast(v, op::Cast{.to = static_cast<int64_t>(to)}); }

std::vector<ValueId> On::joined(std::vector<ValueId> head, std::span<const ValueId> tail) {
  head.insert(head.end(), tail.begin(), tail.end());
  return head;
}

}  // namespace cameo::ops
