#include "ops/math/revisions.h"

#include "ops/on.h"
#include "support/error.h"

namespace cameo::ops {

void drop_consumed_inputs(Upgrade& u) { u.drop("consumed_inputs"); }

void lift_old_broadcast(Upgrade& u) {
  const bool broadcasts = u.take_int("broadcast").value_or(0) != 0;
  const auto axis = u.take_int("axis");
  if (!broadcasts || !axis) return;  // without an axis the shapes match at their ends, as numpy's do
  const Fact &a = u.fact(u.input(0)), &b = u.fact(u.input(1));
  if (!a.has_rank() || !b.has_rank())
    throw error("model.old-broadcast",
                cat(u.op_type, " broadcasts from axis ", *axis, " as before opset 7, and the ranks are not declared"));
  if (*axis < -a.rank() || *axis > a.rank())
    throw error("model.old-broadcast",
                cat(u.op_type, " broadcasts from axis ", *axis, " of a tensor of rank ", a.rank()));
  const int64_t first = *axis < 0 ? *axis + a.rank() : *axis;
  std::vector<int64_t> axes;
  for (int64_t i = b.rank(); first + i < a.rank(); ++i) axes.push_back(i);
  if (!axes.empty()) u.set_input(1, u.on.Unsqueeze(u.input(1), u.constant(Tensor::ints(axes))));
}

void say_old_broadcast(Downgrade& d) {
  if (!d.input(0) || !d.input(1)) return d.refuse("an operand is missing");
  const Fact &a = d.fact(d.input(0)), &b = d.fact(d.input(1));
  if (!a.has_rank() || !b.has_rank()) return d.refuse("operands of unknown rank: broadcasting was another before");
  if (a.shape() == b.shape()) return;
  const bool one_element = element_count(b.shape()).is(1);
  bool suffix = b.rank() <= a.rank();
  for (size_t i = 0; suffix && i < b.shape().size(); ++i)
    suffix = b.shape()[b.shape().size() - 1 - i] == a.shape()[a.shape().size() - 1 - i];
  if (!suffix && !(one_element && b.rank() <= a.rank()))
    return d.refuse("the second operand must broadcast to the first, from its end");
  d.set("broadcast", int64_t{1});
}

void need_equal_shapes(Downgrade& d) {
  for (const ValueId v : d.inputs)
    if (!v || !d.fact(v).has_rank() || d.fact(v).shape() != d.fact(d.input(0)).shape())
      return d.refuse("operands of different shapes did not broadcast");
}

void plain_axis(Downgrade& d, std::string_view attr, int64_t fallback) {
  if (!d.has(attr)) d.set(attr, fallback);
  d.nonnegative_axes(attr);
}

}  // namespace cameo::ops
