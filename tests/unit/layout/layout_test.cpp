#include "layout/layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>

namespace cameo::layout {

namespace {

// Residual blocks with a few branches each, one after the other, as in a network; every 50th block reads the input.
Drawing network(uint32_t blocks) {
  Drawing d;
  std::mt19937 random(7);
  const auto box = [&] {
    d.boxes.push_back({60.0 + random() % 80, 24.0 + random() % 30});
    return static_cast<uint32_t>(d.boxes.size() - 1);
  };
  const auto link = [&](uint32_t a, uint32_t b) { d.links.push_back({.from = a, .to = b, .wire = a}); };
  const uint32_t input = box();
  uint32_t last = input;
  for (uint32_t i = 0; i < blocks; ++i) {
    const uint32_t norm = box(), q = box(), k = box(), v = box(), scores = box(), mix = box(), sum = box();
    link(last, norm);
    for (const uint32_t part : {q, k, v}) link(norm, part);
    link(q, scores), link(k, scores), link(scores, mix), link(v, mix), link(mix, sum), link(last, sum);
    if (i % 50 == 49) link(input, mix);
    last = sum;
  }
  return d;
}

void expect_no_overlap(const Drawing& d, const Placed& p) {
  std::vector<std::vector<uint32_t>> rows;
  for (uint32_t b = 0; b < d.boxes.size(); ++b) {
    rows.resize(std::max<size_t>(rows.size(), p.rows[b] + 1));
    rows[p.rows[b]].push_back(b);
  }
  double below = -1;
  for (auto& row : rows) {
    std::sort(row.begin(), row.end(), [&](uint32_t a, uint32_t b) { return p.boxes[a].x < p.boxes[b].x; });
    double right = -1e300, top = 1e300, bottom = -1e300;
    for (const uint32_t b : row) {
      EXPECT_GE(p.boxes[b].x - d.boxes[b].width / 2, right - 1e-6) << "box " << b;
      right = p.boxes[b].x + d.boxes[b].width / 2;
      top = std::min(top, p.boxes[b].y - d.boxes[b].height / 2);
      bottom = std::max(bottom, p.boxes[b].y + d.boxes[b].height / 2);
    }
    EXPECT_GT(top, below);
    below = bottom;
  }
}

}  // namespace

TEST(Layout, EmptyAndSingle) {
  EXPECT_TRUE(place({}).boxes.empty());
  Drawing one;
  one.boxes = {{10, 4}};
  const Placed p = place(one);
  EXPECT_EQ(p.boxes[0], (Point{5, 2}));
  EXPECT_EQ(p.width, 10);
  EXPECT_EQ(p.height, 4);
}

TEST(Layout, LinksGoDown) {
  const Drawing d = network(40);
  const Placed p = place(d);
  expect_no_overlap(d, p);
  for (size_t i = 0; i < d.links.size(); ++i) {
    const Link& l = d.links[i];
    const auto& points = p.routes[i].points;
    EXPECT_LT(p.boxes[l.from].y, p.boxes[l.to].y);
    ASSERT_GE(points.size(), 2u);
    EXPECT_DOUBLE_EQ(points.front().y, p.boxes[l.from].y + d.boxes[l.from].height / 2);
    EXPECT_DOUBLE_EQ(points.back().y, p.boxes[l.to].y - d.boxes[l.to].height / 2);
    for (size_t k = 1; k < points.size(); ++k) EXPECT_GE(points[k].y, points[k - 1].y);
  }
}

// Between two bends a wire runs straight down: it moves sideways only next to a box.
TEST(Layout, LongWiresAreStraight) {
  Drawing d;
  for (int i = 0; i < 12; ++i) d.boxes.push_back({80, 30});
  for (uint32_t i = 0; i + 1 < 12; ++i) d.links.push_back({.from = i, .to = i + 1, .wire = i});
  d.links.push_back({.from = 0, .to = 11, .wire = 0});
  d.links.push_back({.from = 2, .to = 8, .wire = 2});
  const Placed p = place(d);
  for (const size_t link : {11u, 12u}) {
    const auto& points = p.routes[link].points;
    ASSERT_LE(points.size(), 6u);
    double longest = 0;
    for (size_t k = 1; k < points.size(); ++k)
      if (points[k].x == points[k - 1].x) longest = std::max(longest, points[k].y - points[k - 1].y);
    EXPECT_GT(longest, (points.back().y - points.front().y) * 0.5);
  }
  for (size_t i = 0; i + 1 < 11; ++i) EXPECT_EQ(p.routes[i].points.size(), 2u) << "a chain is straight";
}

TEST(Layout, PortsAreMet) {
  Drawing d;
  d.boxes = {{200, 30}, {40, 20}, {40, 20}};
  d.links = {{.from = 0, .to = 1, .wire = 0, .from_port = -70}, {.from = 0, .to = 2, .wire = 1, .from_port = 70}};
  const Placed p = place(d);
  EXPECT_NEAR(p.routes[0].points.front().x, p.boxes[0].x - 70, 1e-9);
  EXPECT_NEAR(p.routes[1].points.front().x, p.boxes[0].x + 70, 1e-9);
  expect_no_overlap(d, p);
}

TEST(Layout, Pins) {
  Drawing d;
  d.boxes = {{10, 10, Pin::bottom}, {10, 10}, {10, 10, Pin::top}, {10, 10}};
  d.links = {{.from = 1, .to = 0, .wire = 1}, {.from = 2, .to = 3, .wire = 2}};
  const Placed p = place(d);
  EXPECT_EQ(p.rows[2], 0u);
  EXPECT_GT(p.rows[0], std::max(p.rows[1], p.rows[3]));
}

TEST(Layout, CyclesAreDrawn) {
  Drawing d;
  for (int i = 0; i < 4; ++i) d.boxes.push_back({40, 20});
  d.links = {{0, 1, 0}, {1, 2, 1}, {2, 0, 2}, {2, 3, 2}, {3, 3, 3}};
  const Placed p = place(d);
  expect_no_overlap(d, p);
  EXPECT_EQ(std::count_if(p.routes.begin(), p.routes.end(), [](const Route& r) { return r.upwards; }), 2);
  EXPECT_TRUE(p.routes[2].upwards);
  EXPECT_GT(p.routes[2].points.front().y, p.routes[2].points.back().y);
}

TEST(Layout, ManyLongWiresAreCut) {
  Drawing d;
  constexpr uint32_t n = 3000;
  for (uint32_t i = 0; i < n; ++i) d.boxes.push_back({40, 20});
  for (uint32_t i = 0; i + 1 < n; ++i) d.links.push_back({i, i + 1, i});
  for (uint32_t i = 0; i < 500; ++i) d.links.push_back({i, n - 1 - i, i});
  const Placed p = place(d);
  expect_no_overlap(d, p);
  for (uint32_t i = 0; i + 1 < n; ++i) EXPECT_FALSE(p.routes[i].cut) << "neighbours stay joined";
  const auto cut = std::count_if(p.routes.begin(), p.routes.end(), [](const Route& r) { return r.cut; });
  EXPECT_GT(cut, 300);
  EXPECT_LT(cut, 500);
}

TEST(Layout, RandomGraphsDoNotOverlap) {
  std::mt19937 random(3);
  for (int round = 0; round < 40; ++round) {
    Drawing d;
    const uint32_t n = 2 + random() % 60;
    for (uint32_t i = 0; i < n; ++i) d.boxes.push_back({10.0 + random() % 200, 10.0 + random() % 50});
    for (uint32_t i = 0; i < 2 * n; ++i) {
      const uint32_t a = random() % n, b = random() % n;
      d.links.push_back({.from = a, .to = b, .wire = a, .from_port = 0, .to_port = double(random() % 9) - 4});
    }
    expect_no_overlap(d, place(d));
  }
}

TEST(Layout, TheSameEveryTime) {
  const Drawing d = network(30);
  const Placed a = place(d), b = place(d);
  EXPECT_EQ(a.boxes, b.boxes);
  for (size_t i = 0; i < a.routes.size(); ++i) EXPECT_EQ(a.routes[i].points, b.routes[i].points);
}

TEST(Layout, TenThousandBoxes) {
  const Drawing d = network(1429);
  ASSERT_GE(d.boxes.size(), 10'000u);
  const auto start = std::chrono::steady_clock::now();
  const Placed p = place(d);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  expect_no_overlap(d, p);
  EXPECT_LT(seconds, 5) << "far from linear; bench/layout_peers.mjs measures";
}

}  // namespace cameo::layout
