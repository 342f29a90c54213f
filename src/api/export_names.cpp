#include "api/export_names.h"

#include <algorithm>
#include <set>

#include "runtime/watch.h"
#include "support/error.h"

namespace cameo::api {

namespace {

bool is_in(std::string_view scope, std::string_view module) {
  return scope == module || (scope.starts_with(module) && scope[module.size()] == '.');
}

std::string_view scope_of(const Graph& g, NodeId n) {
  return g[n].notes ? std::string_view(g[n].notes->where.scope) : std::string_view();
}

bool leaves(const Graph& g, ValueId v, std::string_view module) {
  return std::any_of(g[v].uses.begin(), g[v].uses.end(),
                     [&](const Use& u) { return !u.node || !is_in(scope_of(g, u.node), module); });
}

// Module paths that nodes lie in, all those above them included.
std::set<std::string> modules(const Graph& g) {
  std::set<std::string> out;
  for (const NodeId n : g.nodes(g.main()))
    for (std::string scope(scope_of(g, n)); !scope.empty();
         scope.resize(scope.rfind('.') == scope.npos ? 0 : scope.rfind('.')))
      if (!out.insert(scope).second) break;
  return out;
}

}  // namespace

void name_values(Graph& g) {
  for (uint32_t i = 0; i < g.node_capacity(); ++i) {
    const Node& n = g[NodeId(i)];
    if (n.dead || n.name.empty()) continue;
    for (size_t k = 0; k < n.outputs.size(); ++k)
      if (const ir::Value& v = g[n.outputs[k]]; v.name.empty() && !v.uses.empty())
        g.label(n.outputs[k]).name = cat(n.name, "_output_", k);
  }
}

void keep_outputs(Graph& g, const std::vector<std::string>& patterns) {
  std::vector<ValueId> outputs = g[g.main()].outputs;
  std::vector<bool> is_output(g.value_capacity());
  for (const ValueId v : outputs) is_output[v.index] = true;
  for (const std::string& pattern : patterns) {
    std::set<std::string> inside;
    for (const std::string& m : modules(g))
      if (matches(m, pattern)) inside.insert(m);
    bool any = false;
    for (const NodeId n : g.nodes(g.main()))
      for (const ValueId v : g[n].outputs) {
        const bool named = matches(g[v].name, pattern) || matches(g[n].name, pattern);
        const bool from_module = std::any_of(inside.begin(), inside.end(), [&](const std::string& m) {
          return is_in(scope_of(g, n), m) && leaves(g, v, m);
        });
        if (!named && !from_module) continue;
        any = true;
        if (!g.used(v) || is_output[v.index]) continue;
        is_output[v.index] = true;
        outputs.push_back(v);
      }
    if (!any)
      throw error("use.keep-outputs", cat("no module, node or value matches '", pattern, "'"))
          .help("--verbose prints their names");
  }
  g.set_region_outputs(g.main(), std::move(outputs));
}

std::string place_of(const Node& n) {
  if (!n.notes || n.notes->where.file.empty()) return "";
  return n.notes->where.line ? cat(n.notes->where.file, ":", n.notes->where.line) : n.notes->where.file;
}

namespace {
template <class F>
void change_notes(Graph& g, F change) {
  for (uint32_t i = 0; i < g.node_capacity(); ++i) {
    if (g[NodeId(i)].dead) continue;
    auto notes = g[NodeId(i)].notes ? std::make_shared<NodeNotes>(*g[NodeId(i)].notes) : std::make_shared<NodeNotes>();
    change(NodeId(i), *notes);
    g.set_notes(NodeId(i), std::move(notes));
  }
}
}  // namespace

void user_places(Graph& g, const ExportTrace& trace) {
  change_notes(g, [&](NodeId n, NodeNotes& notes) {
    if (n.index >= trace.nodes.size() || trace.nodes[n.index].user.file.empty()) return;
    const auto& user = trace.nodes[n.index].user;
    notes.where = Loc{user.file, user.line, 0, notes.where.scope, user.text, {}};
  });
}

void doc_strings(Graph& g) {
  change_notes(g, [&](NodeId n, NodeNotes& notes) { notes.doc = place_of(g[n]); });
}

void number_weights(Graph& g) {
  std::set<std::string, std::less<>> taken;
  for (uint32_t i = 0; i < g.value_capacity(); ++i)
    if (const ir::Value& v = g[ValueId(i)]; v.kind != ir::Value::Kind::dead && v.kind != ir::Value::Kind::initializer)
      taken.insert(v.name);
  size_t number = 0;
  for (const ValueId v : g[g.main()].initializers) {
    if (!g.used(v)) continue;
    while (taken.count(cat(number))) ++number;
    g.label(v).name = cat(number++);
  }
}

}  // namespace cameo::api
