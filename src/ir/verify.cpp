#include "ir/verify.h"

#include <algorithm>
#include <unordered_set>

#include "ir/describe.h"
#include "support/error.h"

namespace cameo::ir {

namespace {

class Verifier {
 public:
  explicit Verifier(const Graph& g) : g_(g), place_(g.node_capacity(), UINT32_MAX) {}

  void structure(const Model& m) {
    lists();
    regions(m);
    values();
    uses();
    scopes();
  }

  std::vector<Diag> findings;

 private:
  void find(std::string_view code, std::string what, Loc where = {}) {
    Diag d;
    d.code = code;
    d.what = std::move(what);
    d.where = std::move(where);
    findings.push_back(std::move(d));
  }
  void find(std::string_view code, NodeId n, std::string_view what) {
    find(code, cat(describe(g_, n), " ", what), place(g_, n));
  }
  std::string named(ValueId v) const {
    return g_[v].name.empty() ? cat("value #", v.index) : cat("'", g_[v].name, "'");
  }
  bool known(ValueId v) const { return v.index < g_.value_capacity() && g_[v].kind != Value::Kind::dead; }
  bool living(RegionId r) const { return r.index < g_.region_capacity() && !g_[r].dead; }

  // Every living node is in the list of its region, once; its number there is its place.
  void lists() {
    for (uint32_t i = 0; i < g_.region_capacity(); ++i) {
      const RegionId r(i);
      if (g_[r].dead) continue;
      NodeId before;
      uint32_t number = 0;
      for (NodeId n = g_[r].first; n; n = g_[n].next) {
        if (n.index >= g_.node_capacity() || g_[n].dead || place_[n.index] != UINT32_MAX) {
          find("graph.list", cat("the list of region ", i, " runs into a dead, foreign or repeated node"));
          break;
        }
        if (g_[n].home != r || g_[n].prev != before) find("graph.list", n, "does not know its place");
        place_[n.index] = number++;
        before = n;
      }
      if (g_[r].last != before) find("graph.list", cat("the list of region ", i, " does not end with its last node"));
    }
    for (uint32_t i = 0; i < g_.node_capacity(); ++i)
      if (!g_[NodeId(i)].dead && place_[i] == UINT32_MAX) find("graph.list", NodeId(i), "is in no region");
  }

  void regions(const Model& m) {
    std::unordered_set<RegionId> roots = {g_.main()};
    for (const LocalFunction& f : m.functions) roots.insert(f.body);
    for (uint32_t i = 0; i < g_.node_capacity(); ++i) {
      const Node& n = g_[NodeId(i)];
      if (n.dead) continue;
      for (const RegionId r : n.regions)
        if (r && (!living(r) || g_[r].owner != NodeId(i) || g_[r].parent != n.home))
          find("graph.region", NodeId(i), "has a body that is not its own");
      if (!n.op->is_opaque() && n.regions.size() != n.op->graph_attrs.size())
        find("graph.region", NodeId(i), "has a wrong number of bodies");
    }
    for (const RegionId r : roots)
      if (!living(r) || g_[r].owner || g_[r].parent)
        find("graph.region", "the main graph or a function's body is dead or has an owner");
  }

  void values() {
    std::vector<uint32_t> listings(g_.value_capacity(), 0);  // as an initializer of the region it says is its home
    for (uint32_t i = 0; i < g_.region_capacity(); ++i)
      for (const ValueId v : g_[RegionId(i)].initializers)
        if (!g_[RegionId(i)].dead && v.index < g_.value_capacity() && g_[v].home == RegionId(i)) ++listings[v.index];
    for (uint32_t i = 0; i < g_.value_capacity(); ++i) {
      const ValueId id(i);
      const Value& v = g_[id];
      const auto at = [&](const std::vector<ValueId>& list, uint32_t k) { return k < list.size() && list[k] == id; };
      bool fine = true;
      switch (v.kind) {
        case Value::Kind::dead: continue;
        case Value::Kind::node_output:
          fine = v.def.valid() && !g_[v.def].dead && at(g_[v.def].outputs, v.def_index) && v.home == g_[v.def].home;
          break;
        case Value::Kind::region_input: fine = living(v.home) && at(g_[v.home].inputs, v.def_index); break;
        case Value::Kind::initializer: fine = listings[i] == 1 && v.weight; break;
      }
      if (!fine) find("graph.value", cat(named(id), " is not where it says it is defined"));
      if (v.weight && v.fact.type.is_tensor() && v.fact.type.elem != v.weight->dtype)
        find("graph.value", cat(named(id), " has another element type than its data"));
    }
  }

  struct UseHash {
    size_t operator()(const Use& u) const { return (size_t{u.node.index} * 31 + u.region.index) * 31 + u.index; }
  };

  void uses() {
    std::vector<std::vector<Use>> wanted(g_.value_capacity());
    const auto add = [&](ValueId v, Use u) {
      if (known(v)) wanted[v.index].push_back(u);
      else find("graph.use", "an operand or output is a value that does not exist");
    };
    for (uint32_t i = 0; i < g_.node_capacity(); ++i) {
      const Node& n = g_[NodeId(i)];
      if (n.dead) continue;
      for (uint32_t k = 0; k < n.inputs.size(); ++k)
        if (n.inputs[k]) add(n.inputs[k], {NodeId(i), {}, k});
    }
    for (uint32_t i = 0; i < g_.region_capacity(); ++i) {
      const Region& r = g_[RegionId(i)];
      if (r.dead) continue;
      for (uint32_t k = 0; k < r.outputs.size(); ++k) add(r.outputs[k], {{}, RegionId(i), k});
    }
    for (uint32_t i = 0; i < g_.value_capacity(); ++i) {
      const Value& v = g_[ValueId(i)];
      if (v.kind == Value::Kind::dead) continue;
      const std::unordered_set<Use, UseHash> have(v.uses.begin(), v.uses.end());
      const bool all =
          std::all_of(wanted[i].begin(), wanted[i].end(), [&](const Use& u) { return have.count(u) != 0; });
      if (have.size() != v.uses.size() || have.size() != wanted[i].size() || !all)
        find("graph.use", cat("the uses of ", named(ValueId(i)), " are not those in its list"));
    }
  }

  void scopes() {
    for (uint32_t i = 0; i < g_.node_capacity(); ++i)
      if (const Node& n = g_[NodeId(i)]; !n.dead)
        for (const ValueId v : n.inputs)
          if (v && known(v) && !visible(v, n.home, NodeId(i)))
            find("graph.scope", NodeId(i), cat("uses ", named(v), ", which it cannot see"));
    for (uint32_t i = 0; i < g_.region_capacity(); ++i)
      if (const Region& r = g_[RegionId(i)]; !r.dead)
        for (const ValueId v : r.outputs)
          if (known(v) && !visible(v, RegionId(i), {}))
            find("graph.scope", cat("an output of region ", i, " is ", named(v), ", which it cannot see"));
  }

  // From `at` in `region` (none: its end): the value belongs to it or to a region around it, and comes before.
  bool visible(ValueId v, RegionId region, NodeId at) const {
    if (g_[v].kind == Value::Kind::initializer && g_[v].home == g_.main())
      return true;  // functions share the model's constants
    while (region && region != g_[v].home) {
      at = g_[region].owner;
      region = g_[region].parent;
    }
    if (!region) return false;
    return g_[v].kind != Value::Kind::node_output || !at || place_[g_[v].def.index] < place_[at.index];
  }

  const Graph& g_;
  std::vector<uint32_t> place_;
};

}  // namespace

std::vector<Diag> structure_findings(const Model& m) {
  Verifier v(m.graph);
  v.structure(m);
  return std::move(v.findings);
}

void verify(const Model& m, std::string_view when) {
  const auto found = structure_findings(m);
  if (!found.empty()) throw Bug("bug.invariant", cat("the graph is broken ", when, ": ", found.front().what));
}

}  // namespace cameo::ir
