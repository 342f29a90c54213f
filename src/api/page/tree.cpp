#include "api/page/tree.h"

#include <algorithm>
#include <map>
#include <utility>

#include "ir/graph.h"
#include "ir/op_info.h"
#include "api/type_text.h"

#include "api/page/module_path.h"
#include "api/page/periods.h"
#include "api/page/stacks.h"
#include "api/state.h"

namespace cameo::page {

std::string_view name(ItemKind kind) {
  constexpr std::string_view names[] = {"root", "node", "module", "repeat", "body", "input", "output"};
  return names[static_cast<size_t>(kind)];
}

namespace {

uint64_t hashed(std::string_view text) {
  uint64_t h = 0xcbf29ce484222325;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return h;
}

// "64×3×7×7"
std::string sizes_text(const std::vector<int64_t>& shape) {
  std::string out;
  for (const int64_t s : shape) out += cat(out.empty() ? "" : "×", s);
  return out.empty() ? "scalar" : out;
}

class Builder {
 public:
  Builder(const Model& model, Tree& out)
      : g_(ModelState::onnx(model).graph), out_(out), maker_(g_.value_capacity(), no_item), wire_(maker_) {
    out_.items.push_back({.kind = ItemKind::root});
    walk(g_.main(), model.graph(), 0);
    // Bodies read values that are made after them in the file's order of regions, never of nodes: all makers are known.
    for (const auto& [value, reader] : reads_) connect(value, reader);
  }

 private:
  uint32_t add(Item item) {
    const auto id = static_cast<uint32_t>(out_.items.size());
    out_.items[item.parent].children.push_back(id);
    out_.items.push_back(std::move(item));
    return id;
  }

  uint32_t module_of(uint32_t base, const std::vector<std::string>& path) {
    std::string whole = out_.items[base].kind == ItemKind::module ? out_.items[base].path : "";
    for (const std::string& part : path) {
      whole += cat(whole.empty() ? "" : ".", part);
      const auto [it, fresh] = modules_.try_emplace({base, part}, 0u);
      if (fresh) it->second = add({.kind = ItemKind::module, .parent = base, .label = part, .path = whole});
      base = it->second;
    }
    return base;
  }

  void walk(support::RegionId region, const Graph& graph, uint32_t parent) {
    for (const support::ValueId v : g_[region].inputs)
      if (!g_[v].weight)
        maker_[v.index] = add({.kind = ItemKind::input, .parent = parent, .label = g_[v].name, .path = g_[v].name});
    const auto shown = graph.nodes();
    size_t next = 0;
    for (const support::NodeId n : g_.nodes(region)) add_node(n, shown[next++], parent);
    for (const support::ValueId v : g_[region].outputs)
      reads_.emplace_back(v,
                          add({.kind = ItemKind::output, .parent = parent, .label = g_[v].name, .path = g_[v].name}));
  }

  void add_node(support::NodeId id, const Node& shown, uint32_t region_item) {
    const ir::Node& n = g_[id];
    const auto number = static_cast<uint32_t>(out_.nodes.size());
    const auto path = module_path(n.name, n.notes ? std::string_view(n.notes->where.scope) : "");
    const uint32_t item = add({.kind = ItemKind::node,
                               .parent = module_of(region_item, path),
                               .node = number,
                               .label = std::string(n.op->name),
                               .path = n.name});
    out_.nodes.push_back(shown);
    out_.item_of_node.push_back(item);
    uint64_t print = hashed(cat(n.op->domain, ":", n.op->name));
    for (const support::ValueId v : n.inputs) {
      if (!v) continue;
      if (g_[v].weight && g_[v].kind == ir::Value::Kind::initializer) print = add_weight(item, v, print);
      else reads_.emplace_back(v, item);
    }
    for (const support::ValueId v : n.outputs) {
      maker_[v.index] = item;
      print = mixed(print, hashed(api::type_text(g_[v].fact.type)));
    }
    out_.items[item].fingerprint = print;
    const auto bodies = shown.bodies();
    size_t next = 0;
    for (const support::RegionId r : n.regions)
      if (r) {
        const auto& [label, body] = bodies[next++];
        walk(r, body, add({.kind = ItemKind::body, .parent = item, .label = label, .path = label}));
      }
  }

  uint64_t add_weight(uint32_t item, support::ValueId v, uint64_t print) {
    constexpr size_t most_lines = 3;
    const std::string sizes = sizes_text(g_[v].weight->shape);
    if (out_.items[item].lines.size() < most_lines) out_.items[item].lines.push_back(sizes);
    return mixed(print, hashed(sizes));
  }

  void connect(support::ValueId v, uint32_t reader) {
    if (maker_[v.index] == no_item) return;  // a weight
    if (wire_[v.index] == no_item) {
      wire_[v.index] = static_cast<uint32_t>(out_.wires.size());
      out_.wires.push_back({maker_[v.index], {}, g_[v].name, api::type_text(g_[v].fact.type)});
    }
    auto& to = out_.wires[wire_[v.index]].to;
    if (to.empty() || to.back() != reader) to.push_back(reader);
  }

  const ir::Graph& g_;
  Tree& out_;
  std::vector<uint32_t> maker_, wire_;  // of each value: an item; a place in Tree::wires
  std::vector<std::pair<support::ValueId, uint32_t>> reads_;
  std::map<std::pair<uint32_t, std::string>, uint32_t> modules_;
};

}  // namespace

Tree tree_of(const Model& model) {
  Tree out;
  Builder(model, out);
  wrap_periods(out);
  stack_repeats(out);
  return out;
}

}  // namespace cameo::page
