#include "engine/part.h"

#include <unordered_map>

#include "engine/compiler.h"
#include "engine/deferred_constants.h"
#include "ir/transplant.h"

namespace cameo::engine {

namespace {

class Cutter {
 public:
  Cutter(const Graph& g, Graph& out) : g_(g), out_(out) {}

  // A value from around, or an input of the body.
  ValueId add(ValueId v) {
    if (const auto it = values.find(v); it != values.end()) return it->second;
    const ValueId copy = made(v);
    out_.label(copy).name = g_[v].name;
    out_.fact(copy) = g_[v].fact;
    values.emplace(v, copy);
    return copy;
  }

  std::unordered_map<ValueId, ValueId> values;

 private:
  ValueId made(ValueId v) {
    if (g_[v].kind == Value::Kind::initializer) return out_.add_initializer(out_.main(), "", g_[v].weight);
    if (g_.is_constant(v)) return out_.add_constant(*g_.constant(v));
    const NodeId n = deferred_constant(g_, v);
    if (!n) return out_.add_input(out_.main(), "", {});
    std::vector<ValueId> operands;
    for (const ValueId i : g_[n].inputs) operands.push_back(i ? add(i) : ValueId());
    const NodeId copy = out_.add_node(out_.main(), *g_[n].op, g_[n].attrs, std::move(operands), 1);
    return out_[copy].outputs[0];
  }

  const Graph& g_;
  Graph& out_;
};

}  // namespace

Part cut_body(const Graph& g, const BaseValues& base, RegionId body, std::span<const ValueId> inputs,
              const Graph& empty) {
  Part part;
  part.graph = std::make_shared<Graph>(empty);
  Graph& out = *part.graph;
  Cutter cutter(g, out);
  for (const ValueId v : inputs) part.inputs.push_back(cutter.add(v));
  for (const ValueId v : captured_values(g, body)) cutter.add(v);
  const auto around = out.node_capacity();  // nodes below are deferred constants
  part.outputs = transplant_body(g, body, out, cutter.values);
  out.set_region_outputs(out.main(), part.outputs);
  for (const NodeId n : out.nodes(out.main()))
    if (n.index >= around) part.nodes.push_back(n);
  for (const auto& [from, to] : cutter.values) part.base.add(to, base.of(from));
  return part;
}

}  // namespace cameo::engine
