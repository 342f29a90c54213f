// Detections as a step of prepare: words, the pass, and the pipeline in plain code that the result is compared with.
#pragma once

#include <string>
#include <vector>

#include "kernels/datum.h"
#include "passes/detector/detector.h"
#include "passes/detector/heads.h"

#include "cameo/prepare.h"

namespace cameo::preparing {
using namespace api;

passes::DetectorWords words_of(const Detections& d);                        // throws use.value
passes::DetectorOptions options_of(const Detections& d, std::string form);  // form: the target's

passes::HeadWords head_words(const Detections& d);

// What a box is mapped by before it is shown: x * factor + offset.
struct Mapping {
  float factor[4] = {1, 1, 1, 1}, offset[4] = {0, 0, 0, 0};
};

struct Candidate {
  float box[4] = {};
  int64_t label = 0;
  float score = 0;
};
struct Candidates {
  std::vector<std::vector<float>> boxes, scores;  // by image: n * 4 corners, n * classes
  std::vector<std::vector<int64_t>> labels;       // by image: n, where a box has one only
  int64_t classes = 0;
};
Error other_sizes();  // prepare.detector: outputs are not as the model declares them
// From the values of the detector, in the order of passes::Detector::values().
Candidates candidates_of(const passes::Detector& d, const std::vector<kernels::Datum>& outputs, const Mapping& map);
// Every coordinate of every box is about 0 to 1, which no coordinates in pixels are.
bool are_parts_of_a_picture(const passes::Detector& d, const std::vector<kernels::Datum>& outputs);
// By image, in falling order of scores: filter, suppression by class, the best `max`.
std::vector<std::vector<Candidate>> pipeline(const passes::Detector& d, const passes::DetectorOptions& o,
                                             const Candidates& from);
// A least score that some dozens of candidates pass, where few pass the one asked for.
float telling_score(const Candidates& from, float asked);

// Compares what a model with detections gave; empty: the same. Detections of nearly one score may change places.
std::string difference(const std::vector<std::vector<Candidate>>& wanted, const std::vector<kernels::Datum>& got,
                       passes::NmsForm form, bool several_images);
std::string difference(const Candidates& wanted, const std::vector<kernels::Datum>& got);  // of NmsForm::boxes

}  // namespace cameo::preparing
