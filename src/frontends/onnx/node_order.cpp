#include "frontends/onnx/node_order.h"

#include <functional>
#include <queue>
#include <unordered_map>

#include "support/budget.h"

namespace cameo::onnx {

namespace {

constexpr int deepest = 200;  // bodies in bodies

// Every name that a node reads, those that its bodies take from outside among them.
void names_read(const NodeProto& n, int depth, std::vector<std::string_view>& out) {
  checkpoint();
  out.insert(out.end(), n.inputs.begin(), n.inputs.end());
  if (depth > deepest) return;
  for (const AttributeProto& a : n.attributes)
    for (const auto& field : a.graphs) {
      const GraphProto body(field.message());
      for (const auto& f : body.nodes) names_read(NodeProto(f.message()), depth + 1, out);
      for (const auto& f : body.outputs) {
        auto in = f.message();
        while (auto part = in.next())
          if (part.number == 1) out.push_back(part.text());
      }
    }
}

}  // namespace

std::vector<pb::Field> in_order(const std::vector<pb::Field>& nodes) {
  std::vector<std::vector<std::string_view>> reads(nodes.size());
  std::unordered_map<std::string_view, size_t> makers;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const NodeProto n(nodes[i].message());
    names_read(n, 0, reads[i]);
    for (const auto name : n.outputs)
      if (!name.empty()) makers.try_emplace(name, i);
  }
  std::vector<std::vector<size_t>> users(nodes.size());
  std::vector<size_t> waiting(nodes.size(), 0);
  for (size_t i = 0; i < nodes.size(); ++i)
    for (const auto name : reads[i])
      if (const auto it = makers.find(name); it != makers.end() && it->second != i)
        users[it->second].push_back(i), ++waiting[i];
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t i = 0; i < nodes.size(); ++i)
    if (waiting[i] == 0) ready.push(i);
  std::vector<pb::Field> out;
  while (!ready.empty()) {
    const size_t i = ready.top();
    ready.pop();
    out.push_back(nodes[i]);
    for (const size_t user : users[i])
      if (--waiting[user] == 0) ready.push(user);
  }
  for (size_t i = 0; i < nodes.size(); ++i)
    if (waiting[i] != 0) out.push_back(nodes[i]);
  return out;
}

}  // namespace cameo::onnx
