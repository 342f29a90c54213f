#include "api/page/stacks.h"

#include <algorithm>
#include <string>
#include <vector>

#include "support/error.h"

namespace cameo::page {

uint64_t mixed(uint64_t a, uint64_t b) {
  return (a ^ (b + 0x9e3779b97f4a7c15 + (a << 6) + (a >> 2))) * 0xff51afd7ed558ccd;
}

namespace {

using support::cat;

constexpr size_t least_repeats = 3;

bool is_number(const std::string& label) {
  return !label.empty() && label.find_first_not_of("0123456789") == label.npos;
}

// Parents before their children.
std::vector<uint32_t> from_above(const Tree& tree) {
  std::vector<uint32_t> out = {0};
  for (size_t i = 0; i < out.size(); ++i) {
    const auto& children = tree.items[out[i]].children;
    out.insert(out.end(), children.begin(), children.end());
  }
  return out;
}

void count_and_print(Tree& tree) {
  const auto order = from_above(tree);
  for (size_t k = order.size(); k-- > 0;) {
    const uint32_t i = order[k];
    Item& item = tree.items[i];
    item.nodes = item.kind == ItemKind::node;
    uint64_t print = item.fingerprint;
    for (const uint32_t c : item.children) {
      const Item& child = tree.items[c];
      item.nodes += child.nodes;
      print = mixed(print, child.fingerprint);
      for (const char letter : child.kind == ItemKind::module ? child.label : "")
        print = mixed(print, uint64_t(letter));
    }
    item.fingerprint = print;
  }
}

// Runs of numbered modules among the children that are equal; inputs, outputs and others between them end no run.
void stack_children(Tree& tree, uint32_t parent) {
  std::vector<uint32_t> modules;
  for (const uint32_t c : tree.items[parent].children)
    if (tree.items[c].kind == ItemKind::module && is_number(tree.items[c].label)) modules.push_back(c);
  bool stacked = false;
  for (size_t first = 0; first < modules.size();) {
    size_t end = first + 1;
    while (end < modules.size() && tree.items[modules[end]].fingerprint == tree.items[modules[first]].fingerprint)
      ++end;
    if (end - first >= least_repeats) {
      const auto id = static_cast<uint32_t>(tree.items.size());
      Item stack{.kind = ItemKind::repeat, .parent = parent};
      stack.label = cat(tree.items[modules[first]].label, "–", tree.items[modules[end - 1]].label);
      stack.path = cat(tree.items[parent].path, ".", stack.label);
      stack.children.assign(modules.begin() + static_cast<ptrdiff_t>(first),
                            modules.begin() + static_cast<ptrdiff_t>(end));
      for (const uint32_t c : stack.children) {
        tree.items[c].parent = id;
        stack.nodes += tree.items[c].nodes;
      }
      tree.items.push_back(std::move(stack));
      stacked = true;
    }
    first = end;
  }
  if (!stacked) return;
  // Each stack stands where its first module stood.
  std::vector<uint32_t> siblings;
  for (const uint32_t c : tree.items[parent].children) {
    const uint32_t now = tree.items[c].parent;
    if (now == parent) siblings.push_back(c);
    else if (tree.items[now].children.front() == c) siblings.push_back(now);
  }
  tree.items[parent].children = std::move(siblings);
}

// A module of one part only says what the part says.
void merge_single(Tree& tree, uint32_t item) {
  for (uint32_t& slot : tree.items[item].children) {
    merge_single(tree, slot);
    Item& child = tree.items[slot];
    if (child.kind != ItemKind::module || child.children.size() != 1) continue;
    const uint32_t only = child.children[0];
    Item& inner = tree.items[only];
    if (inner.kind == ItemKind::module || inner.kind == ItemKind::repeat)
      inner.label = cat(child.label, ".", inner.label);
    inner.parent = item;
    child.parent = no_item;
    child.children.clear();
    slot = only;
  }
}

}  // namespace

void stack_repeats(Tree& tree) {
  count_and_print(tree);
  const size_t items = tree.items.size();
  for (uint32_t i = 0; i < items; ++i)
    if (!tree.items[i].children.empty()) stack_children(tree, i);
  merge_single(tree, 0);
}

}  // namespace cameo::page
