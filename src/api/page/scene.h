// What of a tree is seen with some modules open, laid out.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "layout/layout.h"
#include "api/page/tree.h"

namespace cameo::page {

struct SceneBox {
  uint32_t item = 0;
  double x = 0, y = 0, width = 0, height = 0;  // of its upper left corner
  uint32_t depth = 0;                          // frames around it
  bool open = false;                           // a frame with its children in it
};

// A stretch of a wire within one frame.
struct SceneLine {
  uint32_t wire = 0;
  std::vector<layout::Point> points;
  uint32_t from = no_item, to = no_item;  // boxes that it joins; none: the frame's edge
  bool upwards = false, cut = false;
};

struct Scene {
  std::vector<SceneBox> boxes;  // a frame before what is in it
  std::vector<SceneLine> lines;
  double width = 0, height = 0;
};

constexpr double frame_head = 26, frame_edge = 14;  // of an open module: its title, and the space around its parts

Scene scene_of(const Tree& tree, const std::set<uint32_t>& open);
std::set<uint32_t> all_modules(const Tree& tree);
// What is open at first: everything, of a small model; else modules from the outside in, up to some 60 boxes.
std::set<uint32_t> first_open(const Tree& tree);
// The modules around an item, outermost first.
std::vector<uint32_t> around(const Tree& tree, uint32_t item);

}  // namespace cameo::page
