#include "staging/nodes/vmap.h"

#include <algorithm>

#include "staging/nodes/interpreter.h"

namespace cameo::staging {

namespace {
constexpr std::pair<std::string_view, VmapStep> steps[] = {
    {"lazy_load_decompositions", VmapStep::load}, {"_vmap_increment_nesting", VmapStep::begin},
    {"_vmap_decrement_nesting", VmapStep::end},   {"_add_batch_dim", VmapStep::add},
    {"_remove_batch_dim", VmapStep::remove},
};

json::Value input(json::Value node, size_t i) { return node["inputs"][i]["arg"]; }
}  // namespace

VmapStep vmap_step(json::Value node) {
  const auto target = node["target"].text();
  constexpr std::string_view module = "predispatch.";
  const size_t at = target.find(module);
  if (at == target.npos) return VmapStep::none;
  for (const auto& [name, step] : steps)
    if (target.substr(at + module.size()) == name) return step;
  return VmapStep::none;
}

// The function is run for one slice, in a Scan over all of them. Gives where the nodes go on behind it.
size_t NodeInterpreter::vmapped(const std::vector<json::Value>& nodes, size_t at, NodeScope& scope) {
  size_t end = at + 1;
  for (int depth = 1; end < nodes.size(); ++end) {
    const VmapStep step = vmap_step(nodes[end]);
    depth += step == VmapStep::begin ? 1 : step == VmapStep::end ? -1 : 0;
    if (depth == 0) break;
  }
  if (end == nodes.size()) nodes[at].fail("torch.vmap does not end");
  const auto number = [&](json::Value arg) {
    const Value v = argument(arg, scope);
    return v.is<Dim>() ? v.need<Dim>().known().value_or(0) : 0;
  };
  const auto aligned = [&](const Value& v, int64_t from, int64_t to) {
    return from == to ? v : s.call_op("aten", "movedim", {{v, Dim(from), Dim(to)}, {}})[0];
  };
  // Calls at depth 0 of the function: what goes in, what comes out, and what lies between.
  std::vector<json::Value> ins, outs, body;
  for (size_t i = at + 1, depth = 0; i < end; ++i) {
    const VmapStep step = vmap_step(nodes[i]);
    depth -= step == VmapStep::end ? 1 : 0;
    if (depth == 0 && step == VmapStep::add) ins.push_back(nodes[i]);
    else if (depth == 0 && step == VmapStep::remove) outs.push_back(nodes[i]);
    else body.push_back(nodes[i]);
    depth += step == VmapStep::begin ? 1 : 0;
  }
  std::vector<Value> xs;
  for (const json::Value in : ins) xs.push_back(aligned(argument(input(in, 0), scope), number(input(in, 1)), 0));
  std::vector<std::pair<CellId, uint64_t>> before;
  for (const auto& [name, v] : scope.values)
    if (const auto* t = v.as<TensorRef>()) before.emplace_back(t->cell, s.version_of(t->cell));
  std::vector<std::pair<std::string_view, Value>> sizes;  // taken inside, used behind it, too
  const auto results = turns(
      [&](Results slices) {
        NodeScope inner{scope.graph, scope.values, scope.comparisons};
        for (size_t i = 0; i < ins.size(); ++i) {
          if (const auto* t = slices[i].as<TensorRef>()) before.emplace_back(t->cell, s.version_of(t->cell));
          bind(ins[i]["outputs"], {slices[i]}, inner);
        }
        run(body, 0, body.size(), inner);
        for (const auto& [name, v] : inner.values)
          if (v.is<Dim>()) sizes.emplace_back(name, v);
        Results given;
        for (const json::Value out : outs) given.push_back(argument(input(out, 0), inner));
        if (std::any_of(before.begin(), before.end(), [&](auto& b) { return s.version_of(b.first) != b.second; }))
          s.fail("stage.control", "a function under torch.vmap writes to a tensor from outside",
                 "save ep.run_decompositions({}), in which vmap is done, or let the function write to a clone");
        return given;
      },
      {}, xs, {}, false);
  for (const auto& [name, v] : sizes)
    if (s.on.available(v.need<Dim>())) scope.values.insert_or_assign(name, v);
  for (size_t i = 0; i < outs.size(); ++i) {
    const bool lost = results.size() == 1 && results[0].is<Poison>();
    bind(outs[i]["outputs"], {lost ? results[0] : aligned(results[i], 0, number(input(outs[i], 3)))}, scope);
  }
  return end + 1;
}

}  // namespace cameo::staging
