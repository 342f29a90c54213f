#include "api/page/scene.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "api/page/box_text.h"

namespace cameo::page {

namespace {

// One frame: its children as boxes, then a port for every wire that crosses its upper or lower edge.
struct Frame {
  std::vector<uint32_t> items;                // of the boxes
  std::map<uint32_t, uint32_t> enter, leave;  // wire to box
  layout::Drawing drawing;
  std::vector<uint32_t> wires;  // of the drawing's links
  layout::Placed placed;
};

class Painter {
 public:
  Painter(const Tree& tree, const std::set<uint32_t>& open) : tree_(tree), open_(open) {
    shown_.assign(tree.items.size(), no_item);
    depth_.assign(tree.items.size(), 0);
    place_.assign(tree.items.size(), 0);
    show(0);
    join();
    for (auto it = frames_in_order_.rbegin(); it != frames_in_order_.rend(); ++it) lay_out(*it);
    const Frame& root = frames_.at(0);
    scene_.width = root.placed.width;
    scene_.height = root.placed.height;
    emit(0, 0, 0);
  }
  Scene take() { return std::move(scene_); }

 private:
  bool is_open(uint32_t item) const { return item == 0 || (tree_.opens(item) && open_.count(item)); }

  // The frame's children get their places; what is inside of closed ones is shown as these.
  void show(uint32_t frame) {
    frames_in_order_.push_back(frame);
    Frame& f = frames_[frame];
    for (const uint32_t c : tree_.items[frame].children) {
      place_[c] = static_cast<uint32_t>(f.items.size());
      f.items.push_back(c);
      depth_[c] = depth_[frame] + 1;
      shown_[c] = c;
    }
    const std::vector<uint32_t> items = f.items;
    for (const uint32_t c : items) {
      if (is_open(c)) show(c);
      else hide(c, c);
    }
  }
  void hide(uint32_t item, uint32_t behind) {
    for (const uint32_t c : tree_.items[item].children) {
      shown_[c] = behind;
      hide(c, behind);
    }
  }

  uint32_t port(Frame& f, std::map<uint32_t, uint32_t>& ports, uint32_t wire) {
    // Boxes come first: a port's place is known when all ports are.
    return ports.try_emplace(wire, static_cast<uint32_t>(f.items.size() + f.enter.size() + f.leave.size()))
        .first->second;
  }

  void link(uint32_t frame, uint32_t from, uint32_t to, uint32_t wire) { wanted_.emplace_back(frame, wire, from, to); }

  // One wire to one of its readers: out of the frames around its maker, across, into those around the reader.
  void join(uint32_t wire, uint32_t from, uint32_t to) {
    if (from == no_item || to == no_item || from == to) return;
    uint32_t a = from, b = to;
    const auto climb_out = [&] {
      const uint32_t frame = tree_.items[a].parent;
      Frame& f = frames_.at(frame);
      link(frame, place_[a], port(f, f.leave, wire), wire);
      a = frame;
    };
    const auto climb_in = [&] {
      const uint32_t frame = tree_.items[b].parent;
      Frame& f = frames_.at(frame);
      link(frame, port(f, f.enter, wire), place_[b], wire);
      b = frame;
    };
    while (depth_[a] > depth_[b]) climb_out();
    while (depth_[b] > depth_[a]) climb_in();
    if (a == b) return;  // one is a frame around the other
    while (tree_.items[a].parent != tree_.items[b].parent) climb_out(), climb_in();
    link(tree_.items[a].parent, place_[a], place_[b], wire);
  }

  void join() {
    for (uint32_t w = 0; w < tree_.wires.size(); ++w)
      for (const uint32_t to : tree_.wires[w].to) join(w, shown_[tree_.wires[w].from], shown_[to]);
    std::sort(wanted_.begin(), wanted_.end());
    wanted_.erase(std::unique(wanted_.begin(), wanted_.end()), wanted_.end());
    for (const auto& [frame, wire, from, to] : wanted_) {
      Frame& f = frames_.at(frame);
      f.drawing.links.push_back({.from = from, .to = to, .wire = wire});
      f.wires.push_back(wire);
    }
  }

  // Where a wire enters or leaves an open child, from its centre.
  double port_offset(const Frame& f, uint32_t box, uint32_t wire, bool leaves) const {
    if (box >= f.items.size() || !is_open(f.items[box])) return 0;
    const Frame& inner = frames_.at(f.items[box]);
    const auto& ports = leaves ? inner.leave : inner.enter;
    const auto it = ports.find(wire);
    return it == ports.end() ? 0 : inner.placed.boxes[it->second].x - inner.placed.width / 2;
  }

  void lay_out(uint32_t frame) {
    Frame& f = frames_.at(frame);
    auto& boxes = f.drawing.boxes;
    for (const uint32_t item : f.items) {
      const BoxSize size = is_open(item) ? frame_size(frames_.at(item)) : box_size(tree_.items[item]);
      boxes.push_back({size.width, size.height});
    }
    boxes.resize(f.items.size() + f.enter.size() + f.leave.size());
    for (const auto& [wire, box] : f.enter) boxes[box].pin = layout::Pin::top;
    for (const auto& [wire, box] : f.leave) boxes[box].pin = layout::Pin::bottom;
    for (layout::Link& l : f.drawing.links) {
      l.from_port = port_offset(f, l.from, l.wire, true);
      l.to_port = port_offset(f, l.to, l.wire, false);
    }
    f.drawing.spacing.below = frame == 0 ? 34 : 26;
    f.placed = layout::place(f.drawing);
  }

  static BoxSize frame_size(const Frame& f) {
    constexpr double least = 90;
    return {std::max(least, f.placed.width + 2 * frame_edge), f.placed.height + frame_head + frame_edge};
  }

  // `x`, `y`: where the frame's drawing begins.
  void emit(uint32_t frame, double x, double y) {
    const Frame& f = frames_.at(frame);
    const auto item_of = [&](uint32_t box) { return box < f.items.size() ? f.items[box] : no_item; };
    for (size_t i = 0; i < f.placed.routes.size(); ++i) {
      const auto& route = f.placed.routes[i];
      const layout::Link& l = f.drawing.links[i];
      SceneLine line{f.wires[i], route.points, item_of(l.from), item_of(l.to), route.upwards, route.cut};
      for (layout::Point& p : line.points) p = {p.x + x, p.y + y};
      if (!line.points.empty() && line.from == no_item) line.points.front().y = y - frame_head;  // the frame's edges
      if (!line.points.empty() && line.to == no_item) line.points.back().y = y + f.placed.height + frame_edge;
      scene_.lines.push_back(std::move(line));
    }
    for (size_t i = 0; i < f.items.size(); ++i) {
      const uint32_t item = f.items[i];
      const auto& box = f.drawing.boxes[i];
      const double left = x + f.placed.boxes[i].x - box.width / 2, top = y + f.placed.boxes[i].y - box.height / 2;
      scene_.boxes.push_back({item, left, top, box.width, box.height, depth_[item] - 1, is_open(item)});
      if (!is_open(item)) continue;
      const double inner = frames_.at(item).placed.width;
      emit(item, left + (box.width - inner) / 2, top + frame_head);
    }
  }

  const Tree& tree_;
  const std::set<uint32_t>& open_;
  std::vector<uint32_t> shown_, depth_, place_;  // of each item: the box that stands for it; its frames; its place
  std::map<uint32_t, Frame> frames_;
  std::vector<uint32_t> frames_in_order_;
  std::vector<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>> wanted_;  // frame, wire, from, to
  Scene scene_;
};

}  // namespace

Scene scene_of(const Tree& tree, const std::set<uint32_t>& open) { return Painter(tree, open).take(); }

std::set<uint32_t> all_modules(const Tree& tree) {
  std::set<uint32_t> out;
  for (uint32_t i = 1; i < tree.items.size(); ++i)
    if (tree.opens(i)) out.insert(i);
  return out;
}

std::set<uint32_t> first_open(const Tree& tree) {
  constexpr size_t most_boxes = 60;
  std::set<uint32_t> out;
  std::vector<uint32_t> level = {0};
  size_t boxes = tree.items[0].children.size();
  while (!level.empty()) {
    std::vector<uint32_t> next;
    size_t grown = boxes;
    for (const uint32_t i : level)
      for (const uint32_t c : tree.items[i].children)
        if (tree.opens(c) && tree.items[c].kind != ItemKind::repeat) {
          next.push_back(c);
          grown += tree.items[c].children.size();
        }
    if (grown > most_boxes) break;
    boxes = grown;
    out.insert(next.begin(), next.end());
    level = std::move(next);
  }
  return out;
}

std::vector<uint32_t> around(const Tree& tree, uint32_t item) {
  std::vector<uint32_t> out;
  for (uint32_t p = tree.items[item].parent; p != no_item && p != 0; p = tree.items[p].parent) out.push_back(p);
  std::reverse(out.begin(), out.end());
  return out;
}

}  // namespace cameo::page
