// Parts of models, changed models, models merged and compared. All by name; findings suggest the nearest known name.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cameo/model.h"

namespace cameo {

// What is needed to compute `to` from `from`, names of values; either may be empty: the model's own inputs or outputs.
Model extract(Model model, const std::vector<std::string>& from, const std::vector<std::string>& to);

// Non-maximum suppression behind a detector. Boxes are [images, n, 4], [images, 4, n], [images, n, 1, 4], [n, 4] or
// [4, n]; scores are [images, n, classes], [images, classes, n] or [images, n] (one class), without images where the
// boxes have none: the sizes tell which. The results: nms_boxes [kept, 4], nms_scores [kept], nms_classes [kept], and
// nms_batch [kept], the image of each, where there may be several images. They are in the order of images, then
// classes, then falling scores.
struct NmsSettings {
  float iou = 0.5F;             // boxes of a class that overlap by more are dropped, those of higher scores stay
  float score = 0.05F;          // boxes of lower scores are dropped
  int64_t max_per_class = 100;  // boxes that stay, per image and class
  bool center = false;          // boxes are centre x, centre y, width, height; else two opposite corners
  enum class Layout { by_sizes, classes_first, classes_last } layout = Layout::by_sizes;  // of the scores
};

// {"0.45", "0.25", "300", "center", "classes-last"}: iou, score and max_per_class as numbers in this order, then words.
// What is left out keeps its default. Throws use.value.
NmsSettings nms_settings(const std::vector<std::string>& words);

// Changes, in order; apply() gives the changed model.
//
//   cameo::Editor(model).rename("input.1", "x").set_dim("x", 0,
//   "batch").add_output("features").apply().save("out.onnx");
class Editor {
 public:
  explicit Editor(Model model);
  ~Editor();
  Editor(Editor&&) noexcept;
  Editor& operator=(Editor&&) noexcept;

  Editor& rename(const std::string& from, const std::string& to);  // a value, or a node where no value is called so
  Editor& add_output(const std::string& value);
  Editor& remove_output(const std::string& value);
  Editor& remove_input(const std::string& value);  // unused, or with a default, which becomes a constant
  Editor& fix_shape(const std::string& value, const std::vector<std::string>& sizes);  // a size is a number or a name
  Editor& set_dim(const std::string& value, int axis, const std::string& size);
  Editor& set_attribute(const std::string& node, const std::string& attribute,
                        const std::string& text);  // "3", "0.5", "mean", "[1, 2]"
  Editor& set_operator(const std::string& node, const std::string& op);
  Editor& insert_node(const std::string& text);                    // "y2 = Relu(y)", "a, b = Split<axis=1>(x, {4, 80})"
  Editor& remove_node(const std::string& node);                    // its users read its first input
  Editor& rewire(const std::string& from, const std::string& to);  // users of `from` read `to`
  Editor& append_nms(const std::string& boxes, const std::string& scores, const NmsSettings& settings = {});
  // A weight's value; an input becomes a weight. A name that the model does not have is added: apply() refuses it if
  // nothing reads it then.
  Editor& set_weight(const std::string& name, const ArrayView& value);
  Editor& set_weight(const std::string& name, const SharedArray& value);  // not copied
  Editor& load_weight(const std::string& name, const std::string& path);  // from an .npy
  Editor& set_metadata(const std::string& key, const std::string& value);
  Editor& strip();                                    // documentation, and descriptions of inner values
  std::string dtype(const std::string& value) const;  // "f32", after the changes so far; "" for a new name
  Model apply();

 private:
  struct State;
  State& state() const;  // throws use.moved-from
  std::unique_ptr<State> state_;
};

struct MergeSettings {
  std::vector<std::pair<std::string, std::string>> connect = {};  // an output of the first, an input of the second
  bool keep_connected = false;                                    // connected outputs of the first stay outputs
};
// Two models into one, opsets and names reconciled.
Model merge(Model first, const Model& second, const MergeSettings& settings = {});

struct Difference {
  std::string what;           // "axis of Concat 'cat1' is 1 in the first and 2 in the second"
  std::string first, second;  // a value's name in each model; empty if it is only in the other one
};
// Structure, attributes and weights, whatever the names. Empty: the same.
std::vector<Difference> diff(const Model& first, const Model& second, size_t limit = 100);
// One object: whether the models are the same, and the differences.
std::string to_json(const std::vector<Difference>& differences);

}  // namespace cameo
