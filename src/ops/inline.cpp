#include "ops/inline.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "ir/node_name.h"
#include "ops/on.h"
#include "support/budget.h"

namespace cameo::ops {

void inline_call(Graph& g, NodeId call, const LocalFunction& f) {
  const Node n = g[call];
  if (n.inputs.size() > g[f.body].inputs.size() || n.outputs.size() > g[f.body].outputs.size())
    throw error("model.function", cat("a call of ", f.name, " has more operands than the function"));
  const NamedAttrs bindings = call_bindings(n, f);
  CloneOptions options;
  options.bindings = &bindings;
  const std::string& name = node_name(g, call);
  options.prefix = cat(name.empty() ? f.name : name, "/");
  std::vector<ValueId> inputs = n.inputs;
  inputs.resize(g[f.body].inputs.size());
  const uint32_t first = g.node_capacity();
  const auto results = clone_body(g, f.body, g, inputs, n.home, call, options);
  for (size_t i = 0; i < n.outputs.size(); ++i) {
    if (!results[i])
      throw error("model.function", cat("an output of ", f.name, " is an input that this call leaves out"));
    // What the body hands through, or gives twice, keeps the call's name apart by an Identity.
    const NodeId maker = g[results[i]].def;
    const bool own = maker && maker.index >= first &&
                     std::find(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(i), results[i]) ==
                         results.begin() + static_cast<std::ptrdiff_t>(i);
    const ValueId result = own ? results[i] : On(g, n.home, call).Identity(results[i]);
    g.replace_uses(n.outputs[i], result);
    g.label(result).name = g[n.outputs[i]].name;
    if (g[result].fact.type.is_unknown()) g.fact(result) = g[n.outputs[i]].fact;
  }
  g.erase(call);
}

namespace {

class ExpandedSize {
 public:
  ExpandedSize(const Graph& g, std::span<const LocalFunction> functions) : g_(g), functions_(functions) {}

  uint64_t nodes(RegionId r) {
    uint64_t n = 0;
    for (const NodeId id : g_.nodes(r)) {
      checkpoint();
      n = std::min(most, n + 1);
      for (const RegionId body : g_[id].regions)
        if (body) n = std::min(most, n + nodes(body));
      if (const LocalFunction* f = functions_.called_by(g_[id])) n = std::min(most, n + of(*f));
    }
    return n;
  }

 private:
  // A function that calls itself is reported elsewhere.
  uint64_t of(const LocalFunction& f) {
    const auto [it, first] = known_.emplace(&f, 0);
    if (first) {
      const uint64_t n = nodes(f.body);
      known_[&f] = n;
      return n;
    }
    return it->second;
  }

  static constexpr uint64_t most = uint64_t{1} << 60;
  const Graph& g_;
  const FunctionTable functions_;
  std::unordered_map<const LocalFunction*, uint64_t> known_;
};

constexpr size_t deepest_call = 500;  // each is a call of ours

void inline_calls(Model& m, const FunctionTable& functions, RegionId r, std::vector<const LocalFunction*>& stack,
                  size_t max_nodes) {
  std::vector<NodeId> nodes;
  for (const NodeId n : m.graph.nodes(r)) nodes.push_back(n);
  for (const NodeId n : nodes) {
    checkpoint();
    for (const RegionId body : std::vector<RegionId>(m.graph[n].regions))
      if (body) inline_calls(m, functions, body, stack, max_nodes);
    const LocalFunction* f = functions.called_by(m.graph[n]);
    if (!f) continue;
    if (std::find(stack.begin(), stack.end(), f) != stack.end())
      throw error("model.function-cycle", cat("the function ", f->name, " calls itself"));
    if (stack.size() >= deepest_call)
      throw error("model.function-depth", cat("functions call each other more than ", deepest_call, " deep"));
    stack.push_back(f);
    inline_calls(m, functions, f->body, stack, max_nodes);  // once; the body is then free of calls
    stack.pop_back();
    inline_call(m.graph, n, *f);
    if (m.graph.node_capacity() > max_nodes)
      throw error("model.function-size", cat("inlined functions make more than ", max_nodes, " nodes"));
  }
}

void clear_body(Graph& g, RegionId body) {
  g.set_region_outputs(body, {});
  std::vector<NodeId> doomed;
  for (const NodeId n : g.nodes(body)) doomed.push_back(n);
  for (auto it = doomed.rbegin(); it != doomed.rend(); ++it) g.erase(*it);
}

}  // namespace

void check_expansion(const Graph& g, std::span<const LocalFunction> functions) {
  if (functions.empty()) return;
  const uint64_t n = ExpandedSize(g, functions).nodes(g.main());
  if (n > most_expanded)
    throw over_budget("functions",
                      cat("the functions that this model calls expand to more than ", most_expanded, " nodes"), "");
}

void inline_functions(Model& m, size_t max_nodes) {
  check_expansion(m.graph, m.functions);
  std::vector<const LocalFunction*> stack;
  inline_calls(m, FunctionTable(m.functions), m.graph.main(), stack, max_nodes);
  for (const LocalFunction& f : m.functions) clear_body(m.graph, f.body);
  m.functions.clear();
}

void drop_uncalled(Model& m) {
  if (!m.kept.empty()) return;
  const Graph& g = m.graph;
  const FunctionTable functions(m.functions);
  std::set<RegionId> called;
  std::set<std::string, std::less<>> domains{""};
  for (std::vector<RegionId> work{g.main()}; !work.empty();) {
    const RegionId region = work.back();
    work.pop_back();
    for (const NodeId n : g.nodes(region)) {
      domains.emplace(g[n].op->domain);
      for (const RegionId body : g[n].regions)
        if (body) work.push_back(body);
      if (const LocalFunction* f = functions.called_by(g[n]); f && called.insert(f->body).second)
        work.push_back(f->body);
    }
  }
  for (const LocalFunction& f : m.functions)
    if (!called.contains(f.body)) clear_body(m.graph, f.body);
  std::erase_if(m.functions, [&](const LocalFunction& f) { return !called.contains(f.body); });
  std::erase_if(m.opsets, [&](const auto& import) { return !domains.contains(import.first); });
}

}  // namespace cameo::ops
