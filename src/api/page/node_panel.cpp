#include "api/page/node_panel.h"

#include <algorithm>
#include <type_traits>

#include "api/page/box_text.h"
#include "api/page/scene.h"

namespace cameo::page {

namespace {

constexpr size_t most_listed = 64;  // elements of a list that is shown

template <class T>
std::string list_text(const std::vector<T>& list) {
  std::string out = "[";
  for (size_t i = 0; i < list.size() && i < most_listed; ++i) out += cat(i ? ", " : "", list[i]);
  return out + (list.size() > most_listed ? cat(", … ", list.size(), " in all]") : "]");
}

std::string attribute_text(const Attribute& a) {
  return std::visit(
      [](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, Array>) return cat(v.dtype, list_text(v.shape));
        else if constexpr (std::is_same_v<T, std::string>) return v;
        else if constexpr (std::is_arithmetic_v<T>) return cat(v);
        else return list_text(v);
      },
      a.value);
}

void write_value(json::Writer& w, const Value& v) {
  w.object();
  if (v.present()) {
    w.key("name").value(v.name()).key("label").value(v.label()).key("type").value(v.type());
    if (const auto weight = v.weight()) {
      w.key("weight").object().key("dtype").value(weight->dtype()).key("bytes").value(weight->byte_size());
      w.key("shape").array();
      for (const int64_t s : weight->shape()) w.value(s);
      w.end().end();
    }
  } else w.key("absent").value(true);
  w.end();
}

void write_node(json::Writer& w, const Opened& m, const Node& n) {
  w.key("op").value(n.op()).key("domain").value(n.domain()).key("name").value(n.name());
  w.key("family").value(family_of(n.op()));
  w.key("attributes").array();
  for (const Attribute& a : n.attributes())
    w.object().key("name").value(a.name).key("value").value(attribute_text(a)).end();
  w.end().key("inputs").array();
  for (const Value& v : n.inputs()) write_value(w, v);
  w.end().key("outputs").array();
  for (const Value& v : n.outputs()) write_value(w, v);
  w.end();
  const Loc where = n.where();
  w.key("place")
      .object()
      .key("text")
      .value(n.place())
      .key("file")
      .value(where.file)
      .key("line")
      .value(uint64_t{where.line});
  w.key("module").value(where.scope).key("source").value(where.source).end();
  w.key("rewrites").array();  // that made it
  for (const Rewriting& r : m.ledger)
    for (const Value& v : n.outputs())
      if (v.name() == r.value && !r.value.empty()) w.raw(to_json(r));
  w.end();
}

// How often each operator is in a module, most frequent first.
std::vector<std::pair<std::string, size_t>> operators_in(const Tree& tree, uint32_t item) {
  std::map<std::string, size_t> counts;
  std::vector<uint32_t> stack = {item};
  while (!stack.empty()) {
    const Item& i = tree.items[stack.back()];
    stack.pop_back();
    if (i.kind == ItemKind::node) ++counts[i.label];
    stack.insert(stack.end(), i.children.begin(), i.children.end());
  }
  std::vector<std::pair<std::string, size_t>> out(counts.begin(), counts.end());
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return out;
}

void write_wires(json::Writer& w, const Tree& tree, uint32_t item) {
  w.key("reads").array();
  for (uint32_t i = 0; i < tree.wires.size(); ++i)
    if (const auto& to = tree.wires[i].to; std::find(to.begin(), to.end(), item) != to.end())
      w.object().key("item").value(uint64_t{tree.wires[i].from}).key("value").value(tree.wires[i].value).end();
  w.end().key("read_by").array();
  for (const Wire& wire : tree.wires)
    if (wire.from == item)
      for (const uint32_t to : wire.to) w.object().key("item").value(uint64_t{to}).key("value").value(wire.value).end();
  w.end();
}

}  // namespace

void write_item(json::Writer& w, const Opened& m, const Tree& tree, uint32_t id) {
  const Item& item = tree.items[id];
  w.object().key("id").value(uint64_t{id}).key("kind").value(name(item.kind)).key("title").value(item.label);
  w.key("path").value(item.path).key("around").array();
  for (const uint32_t a : around(tree, id)) w.value(uint64_t{a});
  w.end();
  if (item.kind == ItemKind::node) write_node(w, m, tree.nodes[item.node]);
  if (item.kind == ItemKind::input || item.kind == ItemKind::output) {
    w.key("type");
    const auto it =
        std::find_if(tree.wires.begin(), tree.wires.end(), [&](const Wire& wire) { return wire.value == item.path; });
    w.value(it == tree.wires.end() ? "?" : it->type);
  }
  if (!item.children.empty()) {
    w.key("nodes").value(uint64_t{item.nodes}).key("operators").array();
    for (const auto& [op, count] : operators_in(tree, id)) w.array().value(op).value(uint64_t{count}).end();
    w.end();
  }
  write_wires(w, tree, id);
  w.end();
}

}  // namespace cameo::page
