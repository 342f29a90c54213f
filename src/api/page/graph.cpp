// Methods about what is drawn: the laid out graph, pictures of it, one node, search.
#include <algorithm>
#include <cmath>

#include "api/page/call.h"
#include "api/page/box_text.h"
#include "api/page/found.h"
#include "api/page/node_panel.h"
#include "api/page/scene.h"
#include "api/page/svg.h"

namespace cameo::page {

namespace {

std::set<uint32_t> open_items(const Call& call, const Tree& tree) {
  if (call.flag("all")) return all_modules(tree);
  if (!call.has("open")) return first_open(tree);
  std::set<uint32_t> out;
  for (const int64_t i : call.integers("open"))
    if (i > 0 && static_cast<size_t>(i) < tree.items.size()) out.insert(static_cast<uint32_t>(i));
  if (const int64_t shown = call.integer("show", 0); shown > 0 && static_cast<size_t>(shown) < tree.items.size())
    for (const uint32_t i : around(tree, static_cast<uint32_t>(shown))) out.insert(i);
  return out;
}

double rounded(double v) { return std::round(v * 10) / 10; }

void write_box(json::Writer& w, const Tree& tree, const SceneBox& b) {
  const Item& item = tree.items[b.item];
  w.object().key("id").value(uint64_t{b.item}).key("kind").value(name(item.kind)).key("title").value(title_of(item));
  w.key("path").value(item.path).key("x").value(rounded(b.x)).key("y").value(rounded(b.y));
  w.key("w").value(rounded(b.width)).key("h").value(rounded(b.height)).key("depth").value(uint64_t{b.depth});
  if (item.kind == ItemKind::node) w.key("family").value(family_of(item.label)).key("node").value(uint64_t{item.node});
  if (tree.opens(b.item)) w.key("opens").value(true).key("nodes").value(uint64_t{item.nodes});
  if (b.open) w.key("open").value(true);
  if (!item.lines.empty()) {
    w.key("lines").array();
    for (const std::string& line : item.lines) w.value(line);
    w.end();
  }
  w.end();
}

void write_line(json::Writer& w, const SceneLine& l) {
  w.object().key("wire").value(uint64_t{l.wire});
  if (l.from != no_item) w.key("from").value(uint64_t{l.from});
  if (l.to != no_item) w.key("to").value(uint64_t{l.to});
  if (l.upwards) w.key("up").value(true);
  if (l.cut) w.key("cut").value(true);
  w.key("p").array();
  for (const layout::Point& p : l.points) w.value(rounded(p.x)).value(rounded(p.y));
  w.end().end();
}

// {"open": [items]}, {"all": true}, or neither: as the model is shown at first. "show": an item to open the way to.
void graph(Call& call) {
  const Tree& tree = call.model().drawn();
  const auto open = open_items(call, tree);
  call.progress("laying out", 0, 1);
  const Scene scene = scene_of(tree, open);
  auto& w = call.out.object();
  w.key("width").value(rounded(scene.width)).key("height").value(rounded(scene.height));
  w.key("items").value(uint64_t{tree.items.size()}).key("open").array();
  for (const uint32_t i : open) w.value(uint64_t{i});
  w.end().key("boxes").array();
  for (const SceneBox& b : scene.boxes) write_box(w, tree, b);
  w.end().key("lines").array();
  for (const SceneLine& l : scene.lines) write_line(w, l);
  w.end().key("wires").array();
  for (const Wire& wire : tree.wires) w.array().value(wire.value).value(wire.type).end();
  w.end().end();
}

void picture(Call& call) {
  const Tree& tree = call.model().drawn();
  call.out.object().key("svg").value(svg_text(tree, scene_of(tree, open_items(call, tree)))).end();
}

// {"item": N}: what the panel shows of a node, module, input or output.
void node(Call& call) {
  Opened& m = call.model();
  const Tree& tree = m.drawn();
  const int64_t item = call.integer("item", -1);
  if (item < 0 || static_cast<size_t>(item) >= tree.items.size())
    throw error("use.index", cat("the model has no item ", item));
  write_item(call.out, m, tree, static_cast<uint32_t>(item));
}

void search(Call& call) {
  const auto all = found(call.model().drawn(), call.text("text"), static_cast<size_t>(call.integer("limit", 100)));
  auto& w = call.out.object().key("count").value(uint64_t{all.count}).key("hits").array();
  for (const Hit& h : all.hits)
    w.object().key("item").value(uint64_t{h.item}).key("what").value(h.what).key("text").value(h.text).end();
  w.end().end();
}

constexpr Method methods[] = {{"graph", graph}, {"picture", picture}, {"node", node}, {"search", search}};

}  // namespace

std::span<const Method> graph_methods() { return methods; }

}  // namespace cameo::page
