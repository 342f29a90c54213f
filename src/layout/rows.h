// Steps of a layout. Vertices are the boxes, then the bends: a wire has one in every row that it passes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "layout/layout.h"

namespace cameo::layout {

// A stretch of a wire from one row to the next.
struct Segment {
  uint32_t upper = 0, lower = 0;  // vertices
  double upper_port = 0, lower_port = 0;
};

struct Rows {
  size_t boxes = 0;           // vertices below this are boxes
  std::vector<uint32_t> row;  // of each vertex
  std::vector<double> width;  // of each vertex
  std::vector<Segment> segments;
  std::vector<std::vector<uint32_t>> order;         // vertices of each row, from left to right
  std::vector<uint32_t> position;                   // of each vertex in its row
  std::vector<std::vector<uint32_t>> above, below;  // segments of each vertex
  std::vector<std::vector<uint32_t>> ways;          // vertices of each link from upper to lower end; empty: cut
  std::vector<bool> reversed;                       // links that close a cycle

  bool is_bend(uint32_t v) const { return v >= boxes; }
  bool is_inner(const Segment& s) const { return is_bend(s.upper) && is_bend(s.lower); }
};

// Rows by longest path; links that close cycles reversed; bends put in.
Rows make_rows(const Drawing& d);
// Sets `order` and `position` so that few segments cross; gives how many do.
uint64_t order_rows(Rows& r);
uint64_t crossings(const Rows& r);
// The x of every vertex: those of a row keep their distance, wires run straight.
std::vector<double> columns(const Rows& r, const Spacing& spacing);

}  // namespace cameo::layout
