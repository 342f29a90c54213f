// A model as a deployment target wants it, in one call: each step is recorded and checked by numbers.
//
//   auto ready = cameo::prepare(cameo::load("yolo.onnx"), {.target = "tensorrt", .detections = cameo::Detections()});
//   for (const auto& step : ready.ledger) std::cout << step.step << ": " << step.what << '\n';
//   if (ready.lint.count(cameo::Severity::error) == 0) ready.model.save("ready.onnx");
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cameo/convert.h"
#include "cameo/export.h"
#include "cameo/lint.h"
#include "cameo/model.h"
#include "cameo/progress.h"
#include "cameo/quantize.h"

namespace cameo {

// Boxes of a detector, picked inside the model. What is left empty is found by looking at the model.
struct Detections {
  std::string boxes = {}, scores = {};  // names of values; only boxes: a value that has both side by side
  std::string format = {};              // of boxes: xyxy (corners), cxcywh (centre and size), xywh (corner and size)
  std::optional<bool> normalised = {};  // coordinates are parts of the picture, from 0 to 1
  std::optional<bool> objectness = {};  // a column between boxes and scores
  std::string objectness_name = {};     // of the value that has it, where it is apart: scores are multiplied by it
  int64_t classes = 0;                  // 0: found
  std::string activation = {};          // what the scores still need: none, sigmoid, softmax
  std::string background = {};          // a class that is none: none, first, last
  std::string labels = {};              // of a box: best (its best class), all (every class above the least score)
  std::optional<bool> suppress = {};    // false: boxes do not overlap already, as those of DETR
  float score = 0.25F;                  // boxes of lower scores are dropped
  float iou = 0.45F;                    // boxes of a class that overlap by more are dropped
  int64_t max = 300;                    // boxes per image
  bool agnostic = false;                // boxes suppress those of other classes, too
  // flat: nms_boxes [kept, 4], nms_scores, nms_classes, nms_batch, from NonMaxSuppression. padded: num_dets [images,
  // 1], det_boxes [images, max, 4], det_scores, det_classes. efficient: the same from TensorRT's EfficientNMS_TRT.
  // topk: the same without suppression. boxes: boxes and scores only. Empty: what the target wants.
  std::string form = {};
  // Heads as they come out of the convolutions: which family decodes them (yolov3 to yolov8, nanodet, scrfd, fcos,
  // rtmdet, retinanet, retinaface, centernet), and the anchors of all levels where they are not the published ones,
  // "10x13/16x30/33x23/...", finest level first. Empty: the model decodes its boxes itself.
  std::string head = {}, anchors = {};
};
// "boxes=b,scores=s,format=xyxy,score=0.25,iou=0.45,max=300,per-class": any of these, in any order; "" or "auto" is the
// default. docs/prepare.md has all words. Throws use.value.
Detections detections_of(const std::string& words);
// Whether a text starts with such a word: for command lines, where it may follow its flag.
bool is_detection_words(std::string_view text);

// A normalisation at the model's entrance: (x - mean) / deviation per channel.
enum class Normalise : uint8_t {
  automatic,  // what `image` asks for goes into the first layer where that is exact; what the model has stays
  fold,       // into the weights of the first layer, where that is exact
  keep,       // as nodes
  out,        // taken out of the model; the ledger says what to do outside
};

struct PrepareSettings {
  std::string target = "onnxruntime";    // as LintSettings'
  std::vector<std::string> ignore = {};  // as LintSettings'
  // Types and sizes of inputs, "x=f32[1,3,640,640]", as ExportSettings'; of an ONNX model sizes only.
  std::vector<std::string> inputs = {};
  std::map<std::string, int64_t> sizes =
      {};                                  // named sizes; others stay, or are chosen where the target wants them fixed
  ExportSettings archive = {};             // how a PyTorch archive is exported, but for inputs and opset
  int opset = 0;                           // 0: the model's own, or the nearest that the target takes
  FloatType float_type = FloatType::keep;  // as ConvertSettings'
  // Data to quantize with, as samples_from takes them, or a source; neither: nothing is quantized. The target of
  // `quantize` is the one above, if it knows that.
  std::string calibrate = {};
  SampleSource samples = {};
  QuantizeSettings quantize = {};
  // Pictures of bytes go into the model: words as samples_from takes them, and picture=rgb|bgr,
  // picture-layout=nhwc|nchw, picture-size=any|HxW of what is given. Empty: the input stays.
  std::string image = {};
  Normalise normalise = Normalise::automatic;
  std::optional<Detections> detections = {};
  bool simplify = true;
  bool fix = true;     // what lint can cure for the target is cured
  bool verify = true;  // outputs are compared after each step
  Progress progress = {};
};

struct PrepareStep {
  std::string step;     // "sizes", "detections"
  std::string what;     // "boxes 'output0', 80 classes, ..."
  std::string checked;  // "outputs agree, largest difference 2e-06"; empty: nothing that numbers could tell
  std::string why_not;  // it was not done
};

struct Prepared {
  Model model;
  std::vector<PrepareStep> ledger;  // in order
  LintReport lint;                  // of the result
  std::optional<QuantizeReport> quantized = {};
  std::optional<HalfReport> half = {};
  std::vector<Diag> findings = {};
};

// Throws use.* for settings that make no sense, prepare.* where a step cannot be done or changes results, and what the
// verbs behind the steps throw. Findings of lint are no reason to throw.
Prepared prepare(const Model& model, const PrepareSettings& settings = {});
std::string to_json(const Prepared& prepared, const std::string& file = "");  // one object

}  // namespace cameo
