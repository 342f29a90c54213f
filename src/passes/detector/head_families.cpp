// What is published about the heads of detectors, one row per family.
#include <cmath>

#include "passes/detector/heads.h"

namespace cameo::passes {

namespace {

using Sides = std::vector<std::array<double, 2>>;

// Three scales and three shapes of each level, as torchvision and Detectron2 have them.
Sides retina_anchors() {
  Sides out;
  for (const double side : {32.0, 64.0, 128.0, 256.0, 512.0})
    for (const double ratio : {0.5, 1.0, 2.0})
      for (const double scale : {side, std::floor(side * std::cbrt(2.0)), std::floor(side * std::cbrt(4.0))}) {
        const double h = std::sqrt(ratio) * scale, w = scale / std::sqrt(ratio);
        // Corners are rounded to pixels, half to even.
        out.push_back({2 * std::nearbyint(w / 2), 2 * std::nearbyint(h / 2)});
      }
  return out;
}

std::vector<HeadFamily> made() {
  const Sides coco{{10, 13}, {16, 30}, {33, 23}, {30, 61}, {62, 45}, {59, 119}, {116, 90}, {156, 198}, {373, 326}};
  const Sides later{{12, 16}, {19, 36}, {40, 28}, {36, 75}, {76, 55}, {72, 146}, {142, 110}, {192, 243}, {459, 401}};
  const Sides faces{{16, 16}, {32, 32}, {64, 64}, {128, 128}, {256, 256}, {512, 512}};
  std::vector<HeadFamily> out(13);
  out[0] = {.name = "yolov3", .boxes = HeadBoxes::exponential, .joint = true, .objectness = true, .anchors = coco};
  out[1] = {.name = "yolov4", .boxes = HeadBoxes::exponential, .joint = true, .objectness = true, .anchors = later};
  out[2] = {.name = "yolov5", .boxes = HeadBoxes::squared, .joint = true, .objectness = true, .anchors = coco};
  out[3] = {.name = "yolov7", .boxes = HeadBoxes::squared, .joint = true, .objectness = true, .anchors = later};
  out[4] = {.name = "yolov6", .boxes = HeadBoxes::distances, .offset = 0.5F, .in_strides = true};
  out[5] = {.name = "yolov8", .boxes = HeadBoxes::bins, .joint = true, .offset = 0.5F, .in_strides = true};
  out[6] = {.name = "nanodet",
            .boxes = HeadBoxes::bins,
            .joint = true,
            .classes_first = true,
            .in_strides = true,
            .strides = {8, 16, 32, 64}};
  out[7] = {.name = "scrfd",
            .boxes = HeadBoxes::distances,
            .in_strides = true,
            .strides = {8, 16, 32},
            .anchors = {{1, 1}, {1, 1}}};
  out[8] = {.name = "fcos",
            .boxes = HeadBoxes::distances,
            .centerness = true,
            .offset = 0.5F,
            .best = false,
            .strides = {8, 16, 32, 64, 128}};
  out[9] = {.name = "rtmdet", .boxes = HeadBoxes::distances, .best = false, .strides = {8, 16, 32}};
  out[10] = {.name = "retinanet",
             .boxes = HeadBoxes::deltas,
             .best = false,
             .strides = {8, 16, 32, 64, 128},
             .anchors = retina_anchors()};
  out[11] = {.name = "retinaface",
             .boxes = HeadBoxes::deltas,
             .offset = 0.5F,
             .variance = {0.1F, 0.2F},
             .softmax = true,
             .strides = {8, 16, 32},
             .anchors = faces};
  out[12] = {.name = "centernet", .boxes = HeadBoxes::centers, .best = false};
  return out;
}

}  // namespace

const std::vector<HeadFamily>& head_families() {
  static const std::vector<HeadFamily> all = made();
  return all;
}

const HeadFamily* head_family(std::string_view name) {
  for (const HeadFamily& f : head_families())
    if (f.name == name) return &f;
  return nullptr;
}

}  // namespace cameo::passes
