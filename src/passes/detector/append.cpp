#include <algorithm>
#include <cmath>

#include "kernels/carrier.h"
#include "ops/infer.h"
#include "ops/on.h"
#include "passes/dce.h"
#include "passes/detector/detector.h"
#include "passes/edit.h"
#include "support/error.h"

namespace cameo::passes {

namespace {

constexpr int64_t coordinates = 4;

class Appending {
 public:
  Appending(Model& m, const Detector& d, const DetectorOptions& o, const BoxMap& map)
      : m_(m), g_(m.graph), d_(d), o_(o), map_(map), on_(g_, g_.main()) {}

  void run() {
    check_options();
    outputs_ = other_outputs();
    read_candidates();
    boxes_ = mapped(as_corners(boxes_));
    if (o_.form == NmsForm::boxes) return give({{"boxes", boxes_}, {"scores", scores_}});
    best_only();
    if (d_.suppress && o_.form == NmsForm::efficient) return efficient();
    select();
    if (o_.form == NmsForm::flat) flat();
    else padded();
  }

 private:
  void check_options() const {
    const auto within = [](float v) { return v >= 0 && v <= 1; };
    if (!within(o_.iou)) throw error("prepare.nms", cat("the overlap (iou) must be between 0 and 1, not ", o_.iou));
    if (!std::isfinite(o_.score)) throw error("prepare.nms", cat("the least score is ", o_.score));
    if (o_.max <= 0) throw error("prepare.nms", cat("at least one box must be kept, not ", o_.max));
  }

  // Outputs of the model that stay: all but what the boxes are made of.
  std::vector<ValueId> other_outputs() const {
    std::vector<ValueId> out;
    for (const ValueId v : g_[g_.main()].outputs)
      if (const auto own = d_.values(); std::find(own.begin(), own.end(), g_[v].name) == own.end()) out.push_back(v);
    return out;
  }

  // Values as [images, n, features], f32.
  ValueId in_rows(const std::string& name, bool last, int64_t without_images) {
    ValueId v = on_.cast(find_value(g_, name), DType::f32);
    if (on_.rank(v) == 4) v = on_.Squeeze(v, on_.ints({2}));
    if (on_.rank(v) == without_images) v = on_.Unsqueeze(v, on_.ints({0}));
    if (on_.rank(v) == 2) v = on_.Unsqueeze(v, on_.ints({2}));  // scores of one class
    return last ? v : on_.Transpose(v, {.perm = std::vector<int64_t>{0, 2, 1}});
  }
  ValueId columns(ValueId v, int64_t from, int64_t to) {
    return on_.Slice(v, on_.ints({from}), on_.ints({to}), on_.ints({2}));
  }

  void read_candidates() {
    const int64_t rank = on_.rank(find_value(g_, d_.boxes));
    const ValueId all = in_rows(d_.boxes, d_.features_last, 2);
    if (!d_.joint) {
      boxes_ = all;
      scores_ = in_rows(d_.scores, d_.scores_last, rank == 2 ? 2 : -1);
      if (rank == 2 && on_.rank(find_value(g_, d_.scores)) == 1)
        scores_ = on_.Unsqueeze(on_.cast(find_value(g_, d_.scores), DType::f32), on_.ints({0, 2}));
    } else {
      boxes_ = columns(all, 0, coordinates);
      const int64_t first = coordinates + (d_.objectness ? 1 : 0);
      scores_ = columns(all, first, first + (d_.labelled ? 1 : d_.classes));
      if (d_.labelled) labels_ = columns(all, coordinates + 1, coordinates + 2);
    }
    if (!d_.grid.empty()) boxes_ = decoded(boxes_);
    scores_ = activated(scores_);
    if (d_.objectness) {
      ValueId object = columns(all, coordinates, coordinates + 1);
      if (d_.activation != Activation::none) object = on_.Sigmoid(object);
      scores_ = on_.Mul(object, scores_);
    }
    if (!d_.object.empty()) {
      const ValueId object = object_rows(rank == 2);
      scores_ = on_.Mul(d_.activation != Activation::none ? on_.Sigmoid(object) : object, scores_);
    }
  }
  ValueId object_rows(bool one_image) {
    const ValueId v = on_.cast(find_value(g_, d_.object), DType::f32);
    if (on_.rank(v) == 1) return on_.Unsqueeze(v, on_.ints({0, 2}));
    if (on_.rank(v) == 2) return on_.Unsqueeze(v, on_.ints({one_image && on_.shape(v)[1].is(1) ? 0 : 2}));
    return d_.object_last ? v : on_.Transpose(v, {.perm = std::vector<int64_t>{0, 2, 1}});
  }
  ValueId activated(ValueId v) {
    if (d_.activation == Activation::sigmoid) v = on_.Sigmoid(v);
    if (d_.activation == Activation::softmax) v = on_.Softmax(v, {.axis = 2});
    if (d_.background == Background::first) return columns(v, 1, d_.classes + 1);
    if (d_.background == Background::last) return columns(v, 0, d_.classes);
    return v;
  }

  ValueId numbers(std::vector<int64_t> shape, const std::vector<float>& v) {
    return on_.constant(Tensor::of(DType::f32, std::move(shape), std::span<const float>(v)));
  }

  // Offsets to cells: centres as parts of a cell's side, sides as powers of e.
  ValueId decoded(ValueId v) {
    std::vector<float> cells, strides;
    for (const GridLevel& l : d_.grid)
      for (int64_t y = 0; y < l.height; ++y)
        for (int64_t x = 0; x < l.width; ++x) {
          cells.push_back(static_cast<float>(x)), cells.push_back(static_cast<float>(y));
          strides.push_back(static_cast<float>(l.stride_x)), strides.push_back(static_cast<float>(l.stride_y));
        }
    const auto n = static_cast<int64_t>(cells.size() / 2);
    const ValueId stride = numbers({1, n, 2}, strides);
    const ValueId centre = on_.Mul(on_.Add(columns(v, 0, 2), numbers({1, n, 2}, cells)), stride);
    const ValueId side = on_.Mul(on_.Exp(columns(v, 2, 4)), stride);
    return on_.Concat(std::vector{centre, side}, {.axis = 2});
  }

  ValueId as_corners(ValueId v) {
    if (d_.format == BoxFormat::corners) return v;
    const ValueId at = columns(v, 0, 2), side = columns(v, 2, 4);
    if (d_.format == BoxFormat::size) return on_.Concat(std::vector{at, on_.Add(at, side)}, {.axis = 2});
    const ValueId half = on_.Mul(side, on_.number(0.5, DType::f32));
    return on_.Concat(std::vector{on_.Sub(at, half), on_.Add(at, half)}, {.axis = 2});
  }
  ValueId mapped(ValueId v) {
    if (map_.factor) v = on_.Mul(v, map_.factor);
    return map_.offset ? on_.Add(v, map_.offset) : v;
  }

  float nothing() const { return std::min(o_.score, 0.0F) - 1; }  // below every score that is kept

  // Where boxes have one label, the scores of their other classes become nothing. Of boxes that suppress those of other
  // classes only the best label can stay.
  void best_only() {
    if (d_.labelled || d_.classes <= 1) return;
    if (d_.labels == Labels::all && !o_.agnostic) return;
    const ValueId label = on_.ArgMax(scores_, {.axis = 2, .keepdims = 1});
    if (o_.form == NmsForm::efficient && d_.suppress) {
      std::vector<int64_t> ids;
      for (int64_t i = 0; i < d_.classes; ++i) ids.push_back(i);
      scores_ = on_.Where(on_.Equal(label, on_.ints(ids)), scores_, on_.number(0, DType::f32));
    } else if (o_.agnostic || !d_.suppress) {
      scores_ = on_.ReduceMax(scores_, on_.ints({2}), {.keepdims = 1});
      labels_ = on_.cast(label, DType::f32);
    } else {
      std::vector<int64_t> ids;
      for (int64_t i = 0; i < d_.classes; ++i) ids.push_back(i);
      scores_ = on_.Where(on_.Equal(label, on_.ints(ids)), scores_, on_.number(nothing(), DType::f32));
    }
  }

  void efficient() {
    const auto attr = [](const char* name, AttrValue v) { return ir::NamedAttr{name, std::move(v)}; };
    const NodeId n = g_.add_node(g_.main(), ir::opaque_op("TRT", "EfficientNMS_TRT"), nullptr, {boxes_, scores_}, 4);
    g_.set_extra(n, {attr("background_class", int64_t{-1}), attr("box_coding", int64_t{0}),
                     attr("class_agnostic", int64_t{o_.agnostic ? 1 : 0}), attr("iou_threshold", o_.iou),
                     attr("max_output_boxes", o_.max), attr("plugin_version", std::string("1")),
                     attr("score_activation", int64_t{0}), attr("score_threshold", o_.score)});
    m_.opsets["TRT"] = 1;
    const Dim images = on_.shape(boxes_)[0];
    const auto type = [&](size_t i, DType t, Shape s) {
      g_.fact(g_[n].outputs[i]).type = Type::tensor(t, std::move(s));
    };
    type(0, DType::i32, {images, 1});
    type(1, DType::f32, {images, o_.max, coordinates});
    type(2, DType::f32, {images, o_.max});
    type(3, DType::i32, {images, o_.max});
    const auto made = g_[n].outputs;
    give({{"num_dets", made[0]}, {"det_boxes", made[1]}, {"det_scores", made[2]}, {"det_classes", made[3]}});
  }

  // The best of each image: values_ [images, k], found_ (which boxes), classes_.
  void select() {
    const ValueId by_class = on_.Transpose(scores_, {.perm = std::vector<int64_t>{0, 2, 1}});  // [images, classes, n]
    const ValueId n = on_.Gather(on_.Shape(scores_), on_.ints({1}));                           // [1]
    const ValueId left = d_.suppress && o_.form != NmsForm::topk ? suppressed(by_class) : by_class;
    const ValueId flat = on_.Reshape(left, on_.ints({0, -1}));
    const auto top = on_.TopK(flat, most(flat), 2);
    values_ = top[0];
    const ValueId label = on_.Div(top[1], n);
    found_ = on_.Sub(top[1], on_.Mul(label, n));
    classes_ = labels_ ? on_.cast(on_.Squeeze(picked(labels_), on_.ints({2})), DType::i64) : label;
  }
  // Scores of what a suppression keeps, and nothing elsewhere.
  ValueId suppressed(ValueId by_class) {
    const ValueId kept = on_.NonMaxSuppression(boxes_, by_class, on_.int_scalar(o_.max), on_.number(o_.iou, DType::f32),
                                               on_.number(o_.score, DType::f32));  // [kept, 3]: image, class, box
    const ValueId none = on_.Expand(on_.number(nothing(), DType::f32), on_.Shape(by_class));
    return on_.ScatterND(none, kept, on_.GatherND(by_class, kept));
  }
  // How many: as asked, or all there are.
  ValueId most(ValueId flat) {
    if (const auto all = on_.shape(flat)[1].known()) return on_.ints({std::min(o_.max, *all)});
    return on_.Min(std::vector{on_.ints({o_.max}), on_.Gather(on_.Shape(flat), on_.ints({1}))});
  }
  ValueId picked(ValueId v) { return on_.GatherND(v, on_.Unsqueeze(found_, on_.ints({2})), {.batch_dims = 1}); }
  ValueId is_kept() { return on_.Greater(values_, on_.number(o_.score, DType::f32)); }

  void flat() {
    const ValueId places = on_.Transpose(on_.NonZero(is_kept()), {.perm = std::vector<int64_t>{1, 0}});  // image, rank
    std::vector<Named> made{{"nms_boxes", on_.GatherND(picked(boxes_), places)},
                            {"nms_scores", on_.GatherND(values_, places)},
                            {"nms_classes", on_.GatherND(classes_, places)}};
    if (!on_.shape(boxes_)[0].is(1))
      made.push_back(
          {"nms_batch", on_.Squeeze(on_.Slice(places, on_.ints({0}), on_.ints({1}), on_.ints({1})), on_.ints({1}))});
    give(made);
  }

  void padded() {
    const ValueId kept = is_kept();
    const ValueId zero = on_.number(0, DType::f32);
    give({{"num_dets", on_.ReduceSum(on_.cast(kept, DType::i32), on_.ints({1}), {.keepdims = 1})},
          {"det_boxes", on_.Where(on_.Unsqueeze(kept, on_.ints({2})), picked(boxes_), zero)},
          {"det_scores", on_.Where(kept, values_, zero)},
          {"det_classes", on_.cast(on_.Where(kept, classes_, on_.int_scalar(-1)), DType::i32)}});
  }

  struct Named {
    std::string name;
    ValueId v;
  };
  void give(const std::vector<Named>& made) {
    std::vector<ValueId> outputs;
    for (const Named& n : made) {
      // An output of the model that stands for itself keeps its node's name free.
      const ValueId v = g_[n.v].def ? n.v : on_.Identity(n.v);
      g_.rename(v, "");
      make_room(n.name);
      g_.rename(v, free_name(g_, n.name));
      outputs.push_back(v);
    }
    outputs.insert(outputs.end(), outputs_.begin(), outputs_.end());
    g_.set_region_outputs(g_.main(), std::move(outputs));
    remove_dead_code(g_);
  }
  // The old outputs' names are free where these are inner values from now on.
  void make_room(const std::string& name) {
    const auto own = d_.values();
    if (std::find(own.begin(), own.end(), name) == own.end()) return;
    for (uint32_t i = 0; i < g_.value_capacity(); ++i)
      if (const ValueId v(i); g_[v].kind == Value::Kind::node_output && g_[v].name == name)
        g_.rename(v, cat(name, "_raw"));
  }

  Model& m_;
  Graph& g_;
  const Detector& d_;
  const DetectorOptions& o_;
  const BoxMap& map_;
  On on_;
  std::vector<ValueId> outputs_;  // that stay
  ValueId boxes_, scores_;        // [images, n, 4] and [images, n, classes]
  ValueId labels_;                // [images, n, 1], where a box has one only
  ValueId values_, found_, classes_;
};

}  // namespace

void append_detections(Model& m, const Detector& d, const DetectorOptions& o, const BoxMap& map) {
  Appending(m, d, o, map).run();
}

}  // namespace cameo::passes
