// Detectors: where a model's boxes and scores are, what they mean, and non-maximum suppression behind them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace cameo::passes {

enum class BoxFormat : uint8_t { corners, center, size };  // x1 y1 x2 y2; centre x y, width height; x1 y1, width height
enum class Activation : uint8_t { none, sigmoid, softmax };
enum class Background : uint8_t { none, first, last };
enum class Labels : uint8_t { best, all };  // of a box: only its best class, or every class above the least score

// A level whose boxes are offsets to its cells, as YOLOX gives them without decoding.
struct GridLevel {
  int64_t height = 0, width = 0;
  double stride_y = 1, stride_x = 1;
};

// What the caller knows; what is not given is found.
struct DetectorWords {
  std::string boxes, scores, object;  // names of values; object: objectness that is a value of its own
  std::optional<BoxFormat> format;
  std::optional<Activation> activation;
  std::optional<Background> background;
  std::optional<Labels> labels;
  std::optional<bool> objectness, normalised, suppress;
  int64_t classes = 0;
};

struct Detector {
  std::string family;         // "YOLOv8", for people
  std::string boxes;          // the name of a value: [images, n, 4], or with `joint` the one that has all
  std::string scores;         // the same for [images, n, classes]; empty with `joint`
  bool joint = false;         // 4 rows of boxes, then objectness where there is one, then scores
  bool features_last = true;  // of `boxes`: [images, n, 4] instead of [images, 4, n]
  bool scores_last = true;    // of `scores`: [images, n, classes]
  bool objectness = false;
  std::string object;       // objectness that is a value of its own, [images, n] or [images, n, 1]; empty: none
  bool object_last = true;  // of `object`: not [images, 1, n]
  bool labelled = false;    // with `joint`: one score, then the number of the class
  int64_t classes = 0;      // a background among them not counted
  BoxFormat format = BoxFormat::corners;
  bool normalised = false;  // coordinates are parts of the picture
  Activation activation = Activation::none;
  Background background = Background::none;
  Labels labels = Labels::best;
  bool suppress = true;  // false: boxes do not overlap already (DETR)
  std::vector<GridLevel> grid;

  std::vector<std::string> values() const;  // what it is read from: boxes, scores, object, as far as there are such
  std::string text() const;                 // one line for people
};

// Looks at the outputs and at what computes them. Types have to be inferred. Throws prepare.detector with what was seen
// where no boxes are found, or where they are not decoded.
Detector find_detector(const Model& m, const DetectorWords& words);

enum class NmsForm : uint8_t {
  flat,       // nms_boxes [kept, 4], nms_scores, nms_classes, and nms_batch where there may be several images
  padded,     // num_dets [images, 1], det_boxes [images, max, 4], det_scores, det_classes
  efficient,  // the same from TensorRT's EfficientNMS_TRT
  topk,       // the same without suppression: the best boxes of each image
  boxes,      // boxes [images, n, 4] and scores [images, n, classes] only
};

struct DetectorOptions {
  NmsForm form = NmsForm::flat;
  float score = 0.25F, iou = 0.45F;
  int64_t max = 300;      // boxes per image
  bool agnostic = false;  // boxes of different classes suppress each other, too
};

// Coordinates of boxes times `factor` plus `offset`: f32[4] or [images, 1, 4], for x1, y1, x2, y2. Either may be none.
struct BoxMap {
  ValueId factor, offset;
};

// The detector's outputs give way to those of the form, in falling order of scores; boxes are corners. Other outputs
// stay.
void append_detections(Model& m, const Detector& d, const DetectorOptions& o, const BoxMap& map = {});

}  // namespace cameo::passes
