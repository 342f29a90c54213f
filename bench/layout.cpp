// The layout of one graph, read from a file: how long it takes, as JSON. bench/layout_peers.mjs lays out the same one
// with other libraries.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>

#include "layout/layout.h"

namespace {

// "boxes" and "links", then a width and height for each box, then two boxes for each link.
cameo::layout::Drawing read(const char* path) {
  std::ifstream in(path);
  size_t boxes = 0, links = 0;
  in >> boxes >> links;
  cameo::layout::Drawing d;
  for (size_t i = 0; i < boxes && in; ++i) {
    cameo::layout::Box b;
    in >> b.width >> b.height;
    d.boxes.push_back(b);
  }
  for (size_t i = 0; i < links && in; ++i) {
    cameo::layout::Link l;
    in >> l.from >> l.to;
    l.wire = l.from;
    d.links.push_back(l);
  }
  return d;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: bench_layout GRAPH\n", stderr), 2;
  const auto drawing = read(argv[1]);
  double best = 1e9;
  cameo::layout::Placed placed;
  for (int i = 0; i < 5; ++i) {
    const auto start = std::chrono::steady_clock::now();
    placed = cameo::layout::place(drawing);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::printf("{\"boxes\": %zu, \"links\": %zu, \"seconds\": %.4f, \"crossings\": %llu}\n", drawing.boxes.size(),
              drawing.links.size(), best, static_cast<unsigned long long>(placed.crossings));
}
