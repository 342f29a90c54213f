// Non-maximum suppression behind a detector: a NonMaxSuppression node and the gathers of what it keeps.
#pragma once

#include <string>

#include "ir/graph.h"

namespace cameo::passes {

struct NmsOptions {
  std::string boxes, scores;  // names of values
  float iou = 0.5F, score = 0.05F;
  int64_t max_per_class = 100;
  bool center = false;  // boxes are centre x, centre y, width, height; else two corners
  bool classes_first =
      false;                  // scores are [..., classes, boxes], or the other way round; asked only where the sizes do
  bool classes_last = false;  // not tell
};

// New outputs nms_boxes, nms_scores, nms_classes, and nms_batch where there may be more than one image.
void append_nms(Model& m, const NmsOptions& options);

}  // namespace cameo::passes
