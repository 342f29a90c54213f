#include <algorithm>
#include <utility>

#include "engine/onednn/emitters.h"
#include "ops/generated/attributes.h"
#include "support/error.h"

namespace cameo::engine {

PostOps::PostOps(Compiler& c, NodeId root, ValueId v) : out(v), label(c.graph()[root].op->name), c_(c), root_(root) {}

bool PostOps::activation(NodeId n) {
  using A = dnnl::algorithm;
  const Node& node = c_.graph()[n];
  // Its kernels keep the numbers of an activation by its kind: a second one of the kind would compute with those of the
  // first.
  const auto add = [&](A a, float alpha = 0, float beta = 0) {
    if (std::find(kinds_.begin(), kinds_.end(), a) != kinds_.end()) return false;
    kinds_.push_back(a);
    ops_.append_eltwise(1, a, alpha, beta);
    return true;
  };
  if (node.is("Relu")) return add(A::eltwise_relu);
  if (const auto* a = node.as<op::LeakyRelu>()) return add(A::eltwise_relu, a->alpha);
  if (node.is("Sigmoid")) return add(A::eltwise_logistic);
  if (node.is("Tanh")) return add(A::eltwise_tanh);
  if (node.is("HardSwish")) return add(A::eltwise_hardswish, 1.0f / 6, 0.5f);
  if (const auto* a = node.as<op::Swish>()) {
    auto before = attr();  // a copy: post_ops itself is a handle
    if (!add(A::eltwise_swish, a->alpha)) return false;
    before_swish_ = std::move(before);
    swish_ = a->alpha;
    return true;
  }
  if (const auto* a = node.as<op::Elu>()) return add(A::eltwise_elu, a->alpha);
  if (const auto* a = node.as<op::Gelu>())
    return add(a->approximate == "tanh" ? A::eltwise_gelu_tanh : A::eltwise_gelu_erf);
  if (const auto* a = node.as<op::HardSigmoid>()) {
    if (std::find(kinds_.begin(), kinds_.end(), A::eltwise_clip) != kinds_.end()) return false;
    return add(A::eltwise_linear, a->alpha, a->beta) && add(A::eltwise_clip, 0, 1);
  }
  if (node.is("Clip")) {
    const auto bound = [&](size_t i, float absent) {
      return i < node.inputs.size() && node.inputs[i] ? c_.scalar(node.inputs[i]) : std::optional(absent);
    };
    const auto lo = bound(1, -3.402823466e38f), hi = bound(2, 3.402823466e38f);
    return lo && hi && *lo <= *hi && add(A::eltwise_clip, *lo, *hi);
  }
  return false;
}

bool PostOps::addition(NodeId n) {
  const Node& node = c_.graph()[n];
  if (!node.is("Add") || node.inputs[0] == node.inputs[1]) return false;
  const ValueId other = node.inputs[0] == out ? node.inputs[1] : node.inputs[0];
  if (!c_.is_f32(other) || !c_.ready(other) || c_.desc(other)->dims != c_.desc(out)->dims) return false;
  const bool one_sum = std::none_of(extras.begin(), extras.end(), [](const Extra& e) { return e.sum; });
  const bool sum = one_sum && c_.free_after(other, n);
  if (!sum) return false;
  extras.push_back({other, sum, ops_.len()});
  ops_.append_sum(1);
  return true;
}

void PostOps::fuse_following(size_t most) {
  while (static_cast<size_t>(ops_.len()) < most) {
    const NodeId next = c_.only_user(out);
    if (!next) return;
    const Node& node = c_.graph()[next];
    if (node.outputs.size() != 1 || node.inputs.empty() || !c_.is_f32(node.outputs[0]) ||
        c_.desc(node.outputs[0])->dims != c_.desc(out)->dims)
      return;
    const auto ended_in = std::exchange(swish_, std::nullopt);
    if (!(node.inputs[0] == out && activation(next)) && !addition(next)) {
      swish_ = ended_in;
      return;
    }
    label += cat("+", node.op->name);
    nodes_.push_back(next);
    out = node.outputs[0];
  }
}

dnnl::primitive_attr PostOps::attr() const {
  dnnl::primitive_attr a;
  a.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  a.set_post_ops(ops_);
  return a;
}

void PostOps::absorb() {
  for (const NodeId n : nodes_) c_.absorb(n);
}

void finish_step(Compiler& c, NodeId n, PostOps& post, std::unique_ptr<Kernel> kernel, std::vector<SlotId> in,
                 const Md& dst) {
  const std::vector<int64_t> dims = dst.dims();
  for (const PostOps::Extra& e : post.extras) {
    kernel->accumulates = static_cast<int>(in.size());
    // The primitive may see the tensor with fewer axes than the graph does; row-major both are the same bytes.
    in.push_back(dims == c.desc(e.value)->dims ? in_layout(c, e.value, dst) : c.plain(e.value));
  }
  const Desc& d = *c.desc(post.out);
  const SlotId out = c.make(dims == d.dims ? desc_with(d, dst) : d);
  c.step(n, post.label, std::move(kernel), std::move(in), {out});
  post.absorb();
  c.bind(post.out, out);
}

}  // namespace cameo::engine
