#include "passes/append_nms.h"

#include <algorithm>

#include "ops/infer.h"
#include "ops/on.h"
#include "passes/edit.h"
#include "support/error.h"

namespace cameo::passes {

namespace {

constexpr int64_t coordinates = 4;

class Appending {
 public:
  Appending(Model& m, const NmsOptions& o) : m_(m), g_(m.graph), o_(o), on_(g_, g_.main()) {}

  void run() {
    check_settings();
    const ValueId boxes = all_boxes(shaped(o_.boxes));            // [images, boxes, 4]
    const ValueId scores = all_scores(shaped(o_.scores), boxes);  // [images, classes, boxes]
    const ValueId kept = on_.NonMaxSuppression(
        on_.cast(boxes, DType::f32), on_.cast(scores, DType::f32), on_.int_scalar(o_.max_per_class),
        on_.number(o_.iou, DType::f32), on_.number(o_.score, DType::f32),
        {.center_point_box = o_.center ? 1 : 0});  // [kept, 3]: image, class, box
    add("nms_boxes", on_.GatherND(boxes, on_.Gather(kept, on_.ints({0, 2}), {.axis = 1})));
    add("nms_scores", on_.GatherND(scores, kept));
    add("nms_classes", on_.Gather(kept, on_.int_scalar(1), {.axis = 1}));
    if (on_.shape(boxes)[0] != Dim(1)) add("nms_batch", on_.Gather(kept, on_.int_scalar(0), {.axis = 1}));
  }

 private:
  void check_settings() const {
    const auto within = [](float v) { return v >= 0 && v <= 1; };
    if (!within(o_.iou)) throw error("edit.nms", cat("the overlap (iou) must be between 0 and 1, not ", o_.iou));
    if (!within(o_.score)) throw error("edit.nms", cat("the least score must be between 0 and 1, not ", o_.score));
    if (o_.max_per_class <= 0)
      throw error("edit.nms", cat("at least one box of a class must be kept, not ", o_.max_per_class));
  }

  ValueId shaped(const std::string& name) {
    const ValueId v = find_value(g_, name);
    if (!g_[v].fact.has_rank()) infer(g_, m_.functions);
    if (!g_[v].fact.has_rank()) throw error("edit.nms", cat("the shape of '", name, "' is not known"));
    if (const DType t = g_[v].fact.dtype(); t != DType::f32 && t != DType::f16 && t != DType::f64 && t != DType::bf16)
      throw error("edit.nms", cat("'", name, "' is ", g_[v].fact.type.text(), ", not of floating point"));
    return v;
  }

  [[noreturn]] void wrong_boxes(ValueId v) const {
    throw error("edit.nms", cat("'", o_.boxes, "' is ", g_[v].fact.type.text(), ", which are no boxes"))
        .help("boxes are [images, n, 4], [images, 4, n], [images, n, 1, 4], [n, 4] or [4, n]");
  }

  ValueId all_boxes(ValueId v) {
    if (on_.rank(v) == 4 && on_.shape(v)[2] == Dim(1)) v = on_.Squeeze(v, on_.ints({2}));
    if (on_.rank(v) == 2) v = on_.Unsqueeze(v, on_.ints({0}));
    if (on_.rank(v) != 3) wrong_boxes(v);
    if (on_.shape(v)[2] == Dim(coordinates)) return v;
    if (on_.shape(v)[1] != Dim(coordinates)) wrong_boxes(v);
    return swapped(v);
  }

  ValueId swapped(ValueId v) { return on_.Transpose(v, {.perm = std::vector<int64_t>{0, 2, 1}}); }

  ValueId all_scores(ValueId v, ValueId boxes) {
    const int64_t given = on_.rank(find_value(g_, o_.boxes));
    if (on_.rank(v) == 1 && given == 2) return on_.Unsqueeze(v, on_.ints({0, 1}));
    if (on_.rank(v) == 2 && given > 2) return on_.Unsqueeze(v, on_.ints({1}));  // one class
    if (on_.rank(v) == 2) v = on_.Unsqueeze(v, on_.ints({0}));
    if (on_.rank(v) != 3)
      throw error("edit.nms", cat("'", o_.scores, "' is ", g_[v].fact.type.text(), ", which are no scores"))
          .help(
              "scores are [images, n, classes], [images, classes, n] or [images, n], without images where the boxes "
              "have none");
    return classes_are_last(v, on_.shape(boxes)[1]) ? swapped(v) : v;
  }

  // Which axis of the scores counts the boxes: the one of that size; where sizes have names, a name rather than a
  // number.
  bool classes_are_last(ValueId v, Dim boxes) const {
    if (o_.classes_first || o_.classes_last) return o_.classes_last;
    const Dim first = on_.shape(v)[1], last = on_.shape(v)[2];
    if ((first == boxes) != (last == boxes)) return first == boxes;
    if (first != boxes && first.is_literal() != last.is_literal()) return last.is_literal();
    throw error("edit.nms", cat("'", o_.scores, "' is ", g_[v].fact.type.text(), " and there are ", boxes.text(),
                                " boxes: which axis counts the classes is not clear"))
        .help("say classes-first or classes-last");
  }

  void add(const std::string& wanted, ValueId v) {
    g_.rename(v, free_name(g_, wanted));
    auto outputs = g_[g_.main()].outputs;
    outputs.push_back(v);
    g_.set_region_outputs(g_.main(), std::move(outputs));
  }

  Model& m_;
  Graph& g_;
  const NmsOptions& o_;
  On on_;
};

}  // namespace

void append_nms(Model& m, const NmsOptions& options) { Appending(m, options).run(); }

}  // namespace cameo::passes
