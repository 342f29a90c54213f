// Heads of detectors as a model gives them: per level a picture of features, whose boxes are offsets to anchors or
// cells. Which family they belong to cannot be seen, so it is told; the rest follows from the shapes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "passes/detector/columns.h"

namespace cameo::passes {

// How the numbers of a cell become a box.
enum class HeadBoxes : uint8_t {
  exponential,  // YOLOv3: centre from a sigmoid, side = anchor * exp
  squared,      // YOLOv5: centre from twice a sigmoid, side = anchor * (2 sigmoid)^2
  deltas,       // RetinaNet: centre and side against an anchor, side by exp
  distances,    // FCOS: to the four sides
  bins,         // YOLOv8: distances as the mean of a distribution
  centers,      // CenterNet: offset of the centre, and a side, at the peaks of a heat map
};

struct HeadFamily {
  std::string_view name;
  HeadBoxes boxes = HeadBoxes::distances;
  bool joint = false;          // boxes and scores in one value
  bool classes_first = false;  // with `joint`: scores come before boxes
  bool objectness = false;
  bool centerness = false;
  float offset = 0;         // of a cell's point: 0.5 is its middle
  bool in_strides = false;  // distances are counted in cells, not in pixels
  float variance[2] = {1, 1};
  bool softmax = false;  // scores of logits: a background first
  bool best = true;      // one label per box
  std::vector<double> strides = {};
  std::vector<std::array<double, 2>> anchors = {};  // width and height, level by level
};

// The families that are known, by name; the help of prepare lists them.
const std::vector<HeadFamily>& head_families();
const HeadFamily* head_family(std::string_view name);

struct HeadLevel {
  int64_t height = 0, width = 0;
  double stride_y = 1, stride_x = 1;
  std::vector<std::array<double, 2>> anchors;  // of each cell; empty: one box without an anchor
  bool anchors_outside = false;                // rows go through all cells of the first anchor, then of the next
  int64_t per_cell() const { return anchors.empty() ? 1 : static_cast<int64_t>(anchors.size()); }
};

// Where one value has the rows of some levels.
struct HeadPart {
  enum class Role : uint8_t { joint, boxes, scores, centerness, sides } role = Role::joint;
  std::string value;
  enum class Layout : uint8_t { maps, anchored, channels_last, rows } layout = Layout::rows;
  int64_t features = 0;    // of a row
  size_t first_level = 0;  // `maps` and the like have one level
  size_t levels = 1;
};

struct Heads {
  HeadFamily family;
  std::vector<HeadLevel> levels;
  std::vector<HeadPart> parts;
  int64_t classes = 0, bins = 0;
  bool activated = false;  // scores are probabilities already
  int64_t rows() const;
  std::string text() const;
};

struct HeadWords {
  std::string family;
  std::vector<std::array<double, 2>> anchors;  // of all levels, as many for each; empty: those of the family
  int64_t classes = 0;
};

inline constexpr const char *head_boxes = "head_boxes", *head_scores = "head_scores";

// Types have to be inferred, and the input's sizes known. Throws prepare.detector with what does not fit.
Heads find_heads(const Model& m, const HeadWords& words);
// What the outputs could be the heads of; empty: they do not look like any.
std::string guessed_heads(const Model& m);
// The outputs of the heads give way to head_boxes [images, n, 4], corners in pixels, and head_scores [images, n,
// classes].
void decode_heads(Model& m, const Heads& heads);

}  // namespace cameo::passes
