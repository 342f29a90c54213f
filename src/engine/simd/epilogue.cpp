#include "engine/simd/epilogue.h"

#include <algorithm>

#include "support/error.h"

namespace cameo::engine {

size_t Epilogue::operands() const {
  return static_cast<size_t>(std::count_if(program.begin(), program.end(), [](const auto& i) { return i.binary; }));
}

void Epilogue::apply(const Buffers& b, int64_t offset, int64_t n) const {
  float* y = b.output<float>(0) + offset;
  for (const Instruction& i : program) {
    if (i.binary) binary_row(i.op, y, b.input<float>(i.operand) + offset, y, n);
    else unary_row(i.unary, y, y, n, i.a, i.b);
  }
}

Followers::Followers(Compiler& c, NodeId root, ValueId out)
    : c_(c), root_(root), out_(out), label_(c.graph()[root].op->name) {}

std::optional<Instruction> Followers::follower(const Node& n, size_t inputs) {
  if (n.inputs.empty() || n.outputs.size() != 1 || !c_.is_f32(n.outputs[0]) ||
      c_.desc(n.outputs[0])->dims != c_.desc(out_)->dims)
    return std::nullopt;
  if (n.inputs[0] == out_)
    if (const auto unary = unary_of(c_, n)) return unary;
  const bool swapped = n.inputs.size() == 2 && n.inputs[1] == out_;
  const auto op = binary_of(n, swapped);
  if (!op || n.inputs[0] == n.inputs[1]) return std::nullopt;
  const ValueId other = n.inputs[swapped ? 0 : 1];
  if (!c_.is_f32(other) || !c_.ready(other) || c_.desc(other)->dims != c_.desc(out_)->dims) return std::nullopt;
  Instruction i{true, Unary::copy, *op, 0, 0, inputs + reads_.size()};
  reads_.push_back(other);
  return i;
}

Epilogue Followers::fuse(size_t inputs) {
  Epilogue out;
  for (NodeId next = c_.only_user(out_); next; next = c_.only_user(out_)) {
    const Node& n = c_.graph()[next];
    const auto i = follower(n, inputs);
    if (!i) break;
    out.program.push_back(*i);
    absorbed_.push_back(next);
    label_ += cat("+", n.op->name);
    out_ = n.outputs[0];
  }
  return out;
}

void Followers::finish(std::unique_ptr<Kernel> kernel, std::vector<SlotId> in) {
  for (const ValueId v : reads_) in.push_back(c_.plain(v));
  const SlotId out = c_.make(*c_.desc(out_));
  c_.step(root_, label_, std::move(kernel), std::move(in), {out});
  for (const NodeId n : absorbed_) c_.absorb(n);
  c_.bind(out_, out);
}

}  // namespace cameo::engine
