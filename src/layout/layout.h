// Layered drawings: boxes in rows, links downwards (Sugiyama's method). Layers by longest path, crossings by median
// sweeps, coordinates by Brandes and Köpf. Deterministic; all steps are linear or n log n in boxes and bends.
//
//   layout::Drawing d;
//   d.boxes = {{80, 30}, {80, 30}};
//   d.links = {{.from = 0, .to = 1, .wire = 0}};
//   const layout::Placed p = layout::place(d);   // p.boxes[1].y > p.boxes[0].y
#pragma once

#include <cstdint>
#include <vector>

namespace cameo::layout {

// Where a box has to be: anywhere, above all free ones, below all free ones.
enum class Pin : uint8_t { free, top, bottom };

struct Box {
  double width = 0, height = 0;
  Pin pin = Pin::free;
};

// Links of one wire leave the same box and share their way. Ports are offsets from the centre of a box.
struct Link {
  uint32_t from = 0, to = 0, wire = 0;
  double from_port = 0, to_port = 0;
};

struct Spacing {
  double beside = 24, below = 34;  // between boxes of a row; between rows
  double wires = 10;               // between wires that pass a row side by side
};

struct Drawing {
  std::vector<Box> boxes;
  std::vector<Link> links;
  Spacing spacing;
  // Bends that all wires together may have. Beyond it the longest links are not routed: Route::cut.
  uint64_t most_bends = 0;  // 0: 12 for each box, and at least 4096
};

struct Point {
  double x = 0, y = 0;
  friend bool operator==(const Point&, const Point&) = default;
};

struct Route {
  std::vector<Point> points;  // from the lower edge of `from` to the upper edge of `to`
  bool upwards = false;       // the link closes a cycle: its points still go from `from` to `to`
  bool cut = false;           // not routed
};

struct Placed {
  std::vector<Point> boxes;    // centres
  std::vector<Route> routes;   // one for each link
  std::vector<uint32_t> rows;  // of each box
  double width = 0, height = 0;
  uint64_t crossings = 0;
};

Placed place(const Drawing& drawing);

}  // namespace cameo::layout
