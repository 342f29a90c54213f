#include <algorithm>

#include "backends/onnx/graph_writer.h"
#include "frontends/onnx/proto.h"

namespace cameo::onnx {

void Originals::enter(RegionId r, const Opsets& target) {
  target_ = &target;
  const auto onnx = target.find("");
  onnx_version_ = onnx == target.end() ? 0 : onnx->second;
  for (const NodeId n : g_.nodes(r)) {
    if (g_[n].origin == UINT32_MAX) continue;
    Group& group = groups_[g_[n].origin];
    if (!group.first) group.first = n;
    group.last = n;
    ++group.count;
  }
}

int64_t Originals::target_version(const OpInfo& op) {
  if (op.domain.empty()) return onnx_version_;
  const auto it = target_->find(std::string(op.domain));
  return it == target_->end() ? 0 : it->second;
}

bool Originals::copies(NodeId n) {
  if (g_[n].origin == UINT32_MAX) return false;
  Group& group = groups_[g_[n].origin];
  const Origin& origin = g_.origins()[g_[n].origin];
  if (group.answer == Group::unknown) {
    const bool ok = whole(group, origin) && all_fit(group) && names_hold(group, origin);
    group.answer = ok ? Group::yes : Group::no;
  }
  return group.answer == Group::yes;
}

// All nodes of the message are still there, one after the other, and only values that the message names are used
// elsewhere.
bool Originals::whole(const Group& group, const Origin& origin) const {
  if (!origin.intact || group.count != origin.node_count) return false;
  if (group.count == 1) return true;
  const auto in_group = [&](const Use& u) { return u.node && g_[u.node].origin == g_[group.first].origin; };
  NodeId n = group.first;
  for (uint32_t i = 0; i < group.count; ++i, n = g_[n].next) {
    if (!n || g_[n].origin != g_[group.first].origin) return false;
    for (const ValueId v : g_[n].outputs)
      if (g_[v].name.empty() && !std::all_of(g_[v].uses.begin(), g_[v].uses.end(), in_group)) return false;
  }
  return true;
}

// Precondition: whole().
bool Originals::all_fit(const Group& group) {
  NodeId n = group.first;
  for (uint32_t i = 0; i < group.count; ++i, n = g_[n].next)
    if (!fits(n)) return false;
  return true;
}

// The target says what the file said, for the node and everything in its bodies.
bool Originals::fits(NodeId n) {
  const Node& node = g_[n];
  if (node.origin == UINT32_MAX) return node.is("Constant");  // a sparse initializer of a body
  if (g_.origins()[node.origin].opset != target_version(*node.op)) return false;
  for (const RegionId r : node.regions)
    if (r)
      for (const NodeId inner : g_.nodes(r))
        if (!fits(inner)) return false;
  if (!names_.any_renamed()) return true;
  const auto renamed = [&](ValueId v) { return v && names_.renamed(v); };
  for (const RegionId r : node.regions)
    if (r && (std::any_of(g_[r].inputs.begin(), g_[r].inputs.end(), renamed) ||
              std::any_of(g_[r].initializers.begin(), g_[r].initializers.end(), renamed)))
      return false;
  return std::none_of(node.inputs.begin(), node.inputs.end(), renamed) &&
         std::none_of(node.outputs.begin(), node.outputs.end(), renamed);
}

// The upgrade may have dropped operands that the bytes still name: those values must still be there.
bool Originals::names_hold(const Group& group, const Origin& origin) const {
  if (origin.verbatim) return true;
  pb::Reader in(origin.bytes.text());
  const RegionId home = g_[group.first].home;
  while (auto f = in.next())
    if (f.number == 1 && !f.text().empty() && !names_.visible(f.text(), home)) return false;
  return in.ok();
}

}  // namespace cameo::onnx
