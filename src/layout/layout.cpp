#include "layout/layout.h"

#include <algorithm>
#include <cmath>

#include "layout/rows.h"

namespace cameo::layout {

namespace {

struct Band {  // of a row
  double top = 0, bottom = 0;
};

// Rows are as high as their highest box; the space above a row grows with how far its wires have to move sideways.
std::vector<Band> bands(const Rows& r, const Drawing& d, const std::vector<double>& x) {
  std::vector<Band> out(r.order.size());
  std::vector<double> sideways(r.order.size(), 0);
  for (const Segment& s : r.segments)
    sideways[r.row[s.lower]] =
        std::max(sideways[r.row[s.lower]], std::abs(x[s.upper] + s.upper_port - x[s.lower] - s.lower_port));
  double y = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    double height = 0;
    for (const uint32_t v : r.order[i])
      if (!r.is_bend(v)) height = std::max(height, d.boxes[v].height);
    if (i) y += d.spacing.below + std::min(sideways[i] * 0.06, 3 * d.spacing.below);
    out[i] = {y, y + height};
    y += height;
  }
  return out;
}

bool between(const Point& a, const Point& b, const Point& c) {  // b adds nothing to a straight way down
  return std::abs(a.x - b.x) < 0.01 && std::abs(b.x - c.x) < 0.01;
}

void add(std::vector<Point>& points, Point p) {
  if (!points.empty() && points.back() == p) return;
  if (points.size() >= 2 && between(points[points.size() - 2], points.back(), p)) points.back() = p;
  else points.push_back(p);
}

Route route(const Rows& r, const Drawing& d, const std::vector<double>& x, const std::vector<Band>& rows, size_t link) {
  Route out;
  out.upwards = r.reversed[link];
  const auto& way = r.ways[link];
  if (way.empty()) {
    out.cut = true;
    return out;
  }
  const Link& l = d.links[link];
  const double first = out.upwards ? l.to_port : l.from_port, last = out.upwards ? l.from_port : l.to_port;
  const uint32_t upper = way.front(), lower = way.back();
  const auto middle = [&](uint32_t v) { return (rows[r.row[v]].top + rows[r.row[v]].bottom) / 2; };
  add(out.points, {x[upper] + first, middle(upper) + d.boxes[upper].height / 2});
  add(out.points, {x[upper] + first, rows[r.row[upper]].bottom});
  for (size_t i = 1; i + 1 < way.size(); ++i) {
    add(out.points, {x[way[i]], rows[r.row[way[i]]].top});
    add(out.points, {x[way[i]], rows[r.row[way[i]]].bottom});
  }
  add(out.points, {x[lower] + last, rows[r.row[lower]].top});
  add(out.points, {x[lower] + last, middle(lower) - d.boxes[lower].height / 2});
  if (out.upwards) std::reverse(out.points.begin(), out.points.end());
  return out;
}

}  // namespace

Placed place(const Drawing& d) {
  Placed out;
  if (d.boxes.empty()) return out;
  Rows r = make_rows(d);
  out.crossings = order_rows(r);
  const std::vector<double> x = columns(r, d.spacing);
  const std::vector<Band> rows = bands(r, d, x);
  for (uint32_t b = 0; b < d.boxes.size(); ++b) {
    const Band& row = rows[r.row[b]];
    out.boxes.push_back({x[b], (row.top + row.bottom) / 2});
    out.rows.push_back(r.row[b]);
    out.width = std::max(out.width, x[b] + r.width[b] / 2);
  }
  for (size_t i = 0; i < d.links.size(); ++i) {
    out.routes.push_back(route(r, d, x, rows, i));
    for (const Point& p : out.routes.back().points) out.width = std::max(out.width, p.x);
  }
  out.height = rows.back().bottom;
  return out;
}

}  // namespace cameo::layout
