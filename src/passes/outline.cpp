#include "passes/outline.h"

#include <algorithm>
#include <map>
#include <set>

#include "ir/equal.h"
#include "ops/generated/attributes.h"
#include "ops/op_def.h"

namespace cameo::passes {

namespace {

bool is_in(std::string_view scope, std::string_view module) {
  return scope == module || (scope.starts_with(module) && (scope[module.size()] == '.' || scope[module.size()] == '/'));
}

std::string relative(const std::string& name, const std::string& path) {
  return name.size() > path.size() + 1 && is_in(name, path) ? name.substr(path.size() + 1) : name;
}

class Outliner {
 public:
  Outliner(Model& m, int64_t opset) : m_(m), g_(m.graph), opset_(opset) {}

  // False when the module has no nodes of its own or is entangled with others.
  bool outline(const OutlinedModule& module, bool& entangled) {
    nodes_.clear();
    inside_.clear();
    for (const NodeId n : g_.nodes(g_.main()))
      if (is_in(scope_of(n), module.path)) nodes_.push_back(n), inside_.insert(n);
    if (nodes_.empty()) return false;
    entangled = !gather();
    if (entangled) return false;
    const auto outputs = leaving();
    if (outputs.empty()) return false;
    const RegionId body = g_.add_region({});
    const auto inputs = move_into(body, module.path);
    g_.set_region_outputs(body, outputs);
    const LocalFunction& f = function_for(body, module.class_name);
    call(f, module, inputs, outputs);
    if (f.body != body) g_.kill_region(body);
    return true;
  }

 private:
  std::string_view scope_of(NodeId n, int depth = 0) const {
    if (g_[n].notes && !g_[n].notes->where.scope.empty()) return g_[n].notes->where.scope;
    if (g_[n].notes && !g_[n].notes->where.file.empty()) return "";  // the root module's own
    // What an expansion made belongs where its result is used.
    for (const ValueId v : g_[n].outputs)
      for (const Use& u : g_[v].uses)
        if (u.node && depth < 16) return scope_of(u.node, depth + 1);
    return "";
  }

  template <class F>
  void for_each_operand(NodeId n, F f) {  // bodies included: f(value) gives the value to use instead
    for (size_t i = 0; i < g_[n].inputs.size(); ++i)
      if (const ValueId v = g_[n].inputs[i])
        if (const ValueId to = f(v); to != v) g_.set_input(n, i, to);
    for (const RegionId r : std::vector<RegionId>(g_[n].regions)) {
      if (!r) continue;
      for (const NodeId inner : g_.nodes(r)) for_each_operand(inner, f);
      auto outputs = g_[r].outputs;
      bool changed = false;
      for (ValueId& v : outputs)
        if (const ValueId to = f(v); to != v) v = to, changed = true;
      if (changed) g_.set_region_outputs(r, std::move(outputs));
    }
  }

  // Moves what stands between the module's nodes before or behind them; false when something is both.
  bool gather() {
    std::set<NodeId> after;
    bool started = false;
    for (const NodeId n : g_.nodes(g_.main())) {
      if (n == nodes_.front()) started = true;
      if (!started) continue;
      const bool mine = inside_.count(n);
      bool depends = false;
      for_each_operand(n, [&](ValueId v) {
        if (const NodeId def = g_[v].def; def && (after.count(def) || (!mine && inside_.count(def)))) depends = true;
        return v;
      });
      if (mine && depends) return false;
      if (!mine && depends) after.insert(n);
      if (n == nodes_.back()) break;
    }
    NodeId behind = g_[nodes_.back()].next;
    std::vector<NodeId> moved;
    for (NodeId n = nodes_.front(); n != nodes_.back(); n = g_[n].next)
      if (after.count(n)) moved.push_back(n);
    for (const NodeId n : moved) g_.move_before(n, behind);
    return true;
  }

  std::vector<ValueId> leaving() const {
    std::vector<ValueId> out;
    for (const NodeId n : nodes_)
      for (const ValueId v : g_[n].outputs)
        if (std::any_of(g_[v].uses.begin(), g_[v].uses.end(),
                        [&](const Use& u) { return !u.node ? u.region == g_.main() : !inside(u.node); }))
          out.push_back(v);
    return out;
  }
  bool inside(NodeId n) const {
    while (n && !inside_.count(n)) n = g_[g_[n].home].owner;
    return n.valid();
  }
  bool is_inner(ValueId v) const {  // made by one of the nodes, or in a body of one
    const NodeId def = g_[v].def ? g_[v].def : g_[g_[v].home].owner;
    return def && inside(def);
  }

  // The nodes go into the body; what they read from outside becomes its inputs, unnamed constants come along.
  std::vector<ValueId> move_into(RegionId body, const std::string& path) {
    behind_ = g_[nodes_.back()].next;
    std::vector<ValueId> inputs;
    std::map<ValueId, ValueId> formal;
    const auto outer = [&](ValueId v) {
      if (is_inner(v)) return v;
      if (const auto it = formal.find(v); it != formal.end()) return it->second;
      const bool constant = g_[v].kind == Value::Kind::initializer && g_[v].name.empty();
      ValueId mine;
      if (constant) mine = g_.add_initializer(body, "", g_[v].weight);
      else {
        mine = g_.add_input(
            body, g_[v].kind == Value::Kind::initializer ? relative(g_[v].name, path) : cat("x", inputs.size()),
            Type());
        inputs.push_back(v);
      }
      return formal[v] = mine;
    };
    const NodeId anchor = g_.add_node(body, op_of<op::Identity>(), nullptr, {}, 1);
    for (const NodeId n : nodes_) {
      for_each_operand(n, outer);
      g_.move_before(n, anchor);
      g_.set_name(n, relative(g_[n].name, path));
      for (const ValueId v : g_[n].outputs) g_.label(v).name = relative(g_[v].name, path);
    }
    g_.erase(anchor);
    return inputs;
  }

  const LocalFunction& function_for(RegionId body, const std::string& class_name) {
    const auto dot = class_name.rfind('.');
    const std::string domain = dot == class_name.npos ? "__main__" : class_name.substr(0, dot),
                      name = dot == class_name.npos ? class_name : class_name.substr(dot + 1);
    size_t variants = 0;
    for (const LocalFunction& f : m_.functions) {
      if (f.domain != domain || (f.name != name && !f.name.starts_with(name + "_"))) continue;
      ++variants;
      if (!difference(g_, f.body, g_, body, {.names = false, .types = false, .notes = false})) return f;
    }
    LocalFunction f;
    f.domain = domain;
    f.name = variants ? cat(name, "_", variants) : name;
    f.opsets[""] = opset_;
    for (const NodeId n : g_.nodes(body))
      if (!g_[n].op->domain.empty())
        f.opsets[std::string(g_[n].op->domain)] =
            m_.opsets.count(std::string(g_[n].op->domain)) ? m_.opsets[std::string(g_[n].op->domain)] : 1;
    f.body = body;
    m_.opsets[domain] = 1;
    return m_.functions.emplace_back(std::move(f));
  }

  void call(const LocalFunction& f, const OutlinedModule& module, const std::vector<ValueId>& inputs,
            const std::vector<ValueId>& outputs) {
    const NodeId n = g_.add_node(g_.main(), opaque_op(f.domain, f.name), nullptr, inputs, outputs.size(), behind_);
    g_.set_name(n, module.path);
    auto notes = std::make_shared<NodeNotes>();
    notes->where.scope = module.path;
    g_.set_notes(n, std::move(notes));
    for (size_t i = 0; i < outputs.size(); ++i) {
      const ValueId result = g_[n].outputs[i];
      g_.fact(result) = g_[outputs[i]].fact;
      const bool is_output = std::any_of(g_[outputs[i]].uses.begin(), g_[outputs[i]].uses.end(),
                                         [&](const Use& u) { return u.region == g_.main(); });
      g_.label(result).name = is_output ? g_[outputs[i]].name : cat(module.path, "_output_", i);
      replace_outside(outputs[i], result);
    }
    for (const NodeId inner : nodes_)
      for (const ValueId v : g_[inner].outputs) g_.fact(v) = Fact();  // another call may have other shapes
  }

  void replace_outside(ValueId old, ValueId replacement) {
    for (const Use& u : std::vector<Use>(g_[old].uses)) {
      if (u.node && !inside(u.node)) g_.set_input(u.node, u.index, replacement);
      else if (!u.node && u.region == g_.main()) {
        auto outputs = g_[g_.main()].outputs;
        outputs[u.index] = replacement;
        g_.set_region_outputs(g_.main(), std::move(outputs));
      } else if (!u.node && g_[u.region].owner && !inside(g_[u.region].owner)) {
        auto outputs = g_[u.region].outputs;
        outputs[u.index] = replacement;
        g_.set_region_outputs(u.region, std::move(outputs));
      }
    }
  }

  Model& m_;
  Graph& g_;
  int64_t opset_;
  std::vector<NodeId> nodes_;
  std::set<NodeId> inside_;
  NodeId behind_;
};

}  // namespace

size_t outline_modules(Model& m, std::vector<OutlinedModule> modules, int64_t opset, DiagSink& sink) {
  const auto depth = [](const OutlinedModule& o) { return std::count(o.path.begin(), o.path.end(), '.'); };
  std::stable_sort(modules.begin(), modules.end(), [&](const auto& a, const auto& b) { return depth(a) > depth(b); });
  const size_t before = m.functions.size();
  Outliner o(m, opset);
  for (const OutlinedModule& module : modules) {
    bool entangled = false;
    o.outline(module, entangled);
    if (entangled)
      sink.note("export.function",
                cat("the module '", module.path, "' is called more than once or between others, and stays as it is"));
  }
  return m.functions.size() - before;
}

}  // namespace cameo::passes
