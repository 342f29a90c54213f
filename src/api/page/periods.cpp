#include "api/page/periods.h"

#include <algorithm>
#include <string>

#include "support/error.h"

namespace cameo::page {

namespace {

using support::cat;

constexpr size_t least_length = 3, most_length = 256, least_times = 3, least_nodes = 12;

uint32_t add_module(Tree& tree, uint32_t parent, std::string label, std::string path) {
  Item module{.kind = ItemKind::module, .parent = parent};
  module.label = std::move(label);
  module.path = std::move(path);
  tree.items.push_back(std::move(module));
  return static_cast<uint32_t>(tree.items.size() - 1);
}

// One module with a numbered one for each repetition.
uint32_t wrap(Tree& tree, const std::vector<uint32_t>& nodes, const Period& p, size_t number) {
  const std::string name = number ? cat("block", number + 1) : "block";
  const uint32_t outer = add_module(tree, 0, name, name);
  for (size_t k = 0; k < p.times; ++k) {
    const uint32_t inner = add_module(tree, outer, cat(k), cat(name, ".", k));
    tree.items[outer].children.push_back(inner);
    for (size_t i = 0; i < p.length; ++i) {
      const uint32_t node = nodes[p.first + k * p.length + i];
      tree.items[node].parent = inner;
      tree.items[inner].children.push_back(node);
    }
  }
  return outer;
}

}  // namespace

std::vector<Period> periods(const std::vector<uint64_t>& prints) {
  const size_t n = prints.size();
  std::vector<Period> best(n), out;
  for (size_t length = least_length; length <= most_length && length * least_times <= n; ++length) {
    size_t equal = 0;  // so many from i on are followed by an equal one `length` later
    for (size_t i = n - length; i-- > 0;) {
      equal = prints[i] == prints[i + length] ? equal + 1 : 0;
      const size_t times = equal / length + 1;
      if (times >= least_times && times * length > best[i].times * best[i].length) best[i] = {i, length, times};
    }
  }
  for (size_t i = 0; i < n;) {
    if (!best[i].times) {
      ++i;
      continue;
    }
    out.push_back(best[i]);
    i += best[i].length * best[i].times;
  }
  return out;
}

void wrap_periods(Tree& tree) {
  std::vector<uint32_t> nodes;
  std::vector<uint64_t> prints;
  for (const uint32_t c : tree.items[0].children)
    if (tree.items[c].kind == ItemKind::node) {
      nodes.push_back(c);
      prints.push_back(tree.items[c].children.empty() ? tree.items[c].fingerprint : ~uint64_t{c});
    }
  if (nodes.size() < least_nodes || 2 * nodes.size() < tree.nodes.size()) return;
  std::vector<uint32_t> stands(tree.items.size(), no_item);  // for each item that is wrapped: by what
  size_t number = 0;
  for (const Period& p : periods(prints)) {
    const uint32_t outer = wrap(tree, nodes, p, number++);
    for (size_t i = 0; i < p.length * p.times; ++i) stands[nodes[p.first + i]] = outer;
  }
  std::vector<uint32_t> children;
  for (const uint32_t c : tree.items[0].children) {
    const uint32_t shown = stands[c] == no_item ? c : stands[c];
    if (children.empty() || children.back() != shown) children.push_back(shown);
  }
  tree.items[0].children = std::move(children);
}

}  // namespace cameo::page
