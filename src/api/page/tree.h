// A graph as the page shows it: nodes in modules, repeated modules in stacks, and the wires between them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cameo/model.h"

namespace cameo::page {

enum class ItemKind : uint8_t { root, node, module, repeat, body, input, output };
std::string_view name(ItemKind kind);

constexpr uint32_t no_item = UINT32_MAX;

struct Item {
  ItemKind kind = ItemKind::root;
  uint32_t parent = no_item;
  uint32_t node = no_item;  // of a node: its number in Tree::nodes
  std::string label;        // of a module its name within its parent, of a node its operator
  std::string path;         // of a module: the whole path; of a node: its name; of an input or output: the value's name
  std::vector<std::string> lines;  // further text in its box
  std::vector<uint32_t> children;  // in the order of the file
  size_t nodes = 0;                // in it, itself included
  uint64_t fingerprint = 0;        // equal for modules that compute the same on the same types
};

// A value that somebody reads, from what makes it to its readers.
struct Wire {
  uint32_t from = no_item;
  std::vector<uint32_t> to;
  std::string value, type;
};

struct Tree {
  std::vector<Item> items;  // the first is the root; ids of the page are places in this list
  std::vector<Node> nodes;  // bodies included
  std::vector<uint32_t> item_of_node;
  std::vector<Wire> wires;

  bool opens(uint32_t item) const { return !items[item].children.empty(); }
};

// Of a model whose types are inferred.
Tree tree_of(const Model& model);

}  // namespace cameo::page
