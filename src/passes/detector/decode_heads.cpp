// Heads as boxes and scores: operators behind the model.
#include <algorithm>

#include "ops/on.h"
#include "passes/dce.h"
#include "passes/detector/heads.h"
#include "passes/edit.h"
#include "support/error.h"

namespace cameo::passes {

namespace {

using Role = HeadPart::Role;
using Layout = HeadPart::Layout;
constexpr int64_t coordinates = 4;

class Decoding {
 public:
  Decoding(Model& m, const Heads& h) : g_(m.graph), h_(h), on_(m.graph, m.graph.main()) { tables(); }

  void run() {
    ValueId boxes, scores;
    if (h_.parts[0].role == Role::joint) {
      const ValueId all = rows_of(Role::joint);
      const int64_t box = coordinates * h_.bins, object = h_.family.objectness;
      const bool first = h_.family.classes_first;
      boxes = first ? columns(all, h_.classes, h_.classes + box) : columns(all, 0, box);
      scores = first ? columns(all, 0, h_.classes) : columns(all, box + object, box + object + h_.classes);
      scores = activated(scores);
      if (object) scores = on_.Mul(activated(columns(all, coordinates, coordinates + 1)), scores);
    } else {
      boxes = rows_of(Role::boxes);
      scores = scores_apart();
    }
    give(corners(boxes), scores);
  }

 private:
  // Of every row: the cell's point and stride, and the anchor's sides.
  void tables() {
    for (const HeadLevel& l : h_.levels) {
      const int64_t cells = l.height * l.width, each = l.per_cell();
      for (int64_t i = 0; i < cells * each; ++i) {
        const int64_t cell = l.anchors_outside ? i % cells : i / each;
        const auto a = static_cast<size_t>(l.anchors_outside ? i / cells : i % each);
        points_.push_back(static_cast<float>(double(cell % l.width) + double(h_.family.offset)));
        points_.push_back(static_cast<float>(double(cell / l.width) + double(h_.family.offset)));
        strides_.push_back(static_cast<float>(l.stride_x)), strides_.push_back(static_cast<float>(l.stride_y));
        for (size_t k = 0; k < 2; ++k) sides_.push_back(l.anchors.empty() ? 1.0F : static_cast<float>(l.anchors[a][k]));
      }
    }
    rows_ = static_cast<int64_t>(points_.size() / 2);
  }
  ValueId table(const std::vector<float>& v) {
    return on_.constant(ir::Tensor::of(DType::f32, {1, rows_, 2}, std::span<const float>(v)));
  }
  ValueId pixels() {
    std::vector<float> out(points_.size());
    std::transform(points_.begin(), points_.end(), strides_.begin(), out.begin(), std::multiplies<>());
    return table(out);
  }
  ValueId scalar(double v) { return on_.number(v, DType::f32); }
  ValueId columns(ValueId v, int64_t from, int64_t to) {
    return on_.Slice(v, on_.ints({from}), on_.ints({to}), on_.ints({2}));
  }

  // A part as [images, rows, features], f32.
  ValueId in_rows(const HeadPart& p, ValueId v) {
    v = on_.cast(v, DType::f32);
    if (p.layout == Layout::rows) return on_.rank(v) == 2 ? on_.Unsqueeze(v, on_.ints({0})) : v;
    if (p.layout != Layout::maps) return on_.Reshape(v, on_.ints({0, -1, p.features}));
    const HeadLevel& l = h_.levels[p.first_level];
    const int64_t cells = l.height * l.width, a = on_.shape(v)[1].literal() / p.features;
    if (a == 1)
      return on_.Transpose(on_.Reshape(v, on_.ints({0, p.features, cells})), {.perm = std::vector<int64_t>{0, 2, 1}});
    v = on_.Transpose(on_.Reshape(v, on_.ints({0, a, p.features, cells})), {.perm = std::vector<int64_t>{0, 1, 3, 2}});
    return on_.Reshape(v, on_.ints({0, -1, p.features}));
  }
  ValueId rows_of(Role role) {
    std::vector<ValueId> all;
    for (const HeadPart& p : h_.parts)
      if (p.role == role) all.push_back(in_rows(p, find_value(g_, p.value)));
    return all.size() == 1 ? all[0] : on_.Concat(all, {.axis = 1});
  }

  ValueId activated(ValueId v) { return h_.activated ? v : on_.Sigmoid(v); }
  ValueId scores_apart() {
    if (h_.family.boxes == HeadBoxes::centers) return peaks();
    ValueId scores = rows_of(Role::scores);
    if (h_.family.softmax) {
      if (!h_.activated) scores = on_.Softmax(scores, {.axis = 2});
      return on_.shape(scores)[2].is(h_.classes + 1) ? columns(scores, 1, h_.classes + 1) : scores;
    }
    scores = activated(scores);
    if (h_.family.centerness) scores = on_.Sqrt(on_.Mul(scores, on_.Sigmoid(rows_of(Role::centerness))));
    return scores;
  }
  // Scores of cells that no neighbour outdoes; 0 elsewhere.
  ValueId peaks() {
    for (const HeadPart& p : h_.parts) {
      if (p.role != Role::scores) continue;
      const ValueId heat = activated(on_.cast(find_value(g_, p.value), DType::f32));
      const ValueId most = on_.MaxPool(heat, {.kernel_shape = {3, 3}, .pads = std::vector<int64_t>{1, 1, 1, 1}}, 1)[0];
      return in_rows(p, on_.Where(on_.Equal(heat, most), heat, scalar(0)));
    }
    throw support::Bug("bug.invariant", "heads without scores");
  }

  ValueId corners(ValueId v) {
    switch (h_.family.boxes) {
      case HeadBoxes::exponential:
        return from_centre(on_.Mul(on_.Add(on_.Sigmoid(columns(v, 0, 2)), table(points_)), table(strides_)),
                           on_.Mul(on_.Exp(columns(v, 2, 4)), table(sides_)));
      case HeadBoxes::squared: return squared(v);
      case HeadBoxes::deltas: {
        const ValueId side = table(sides_);
        const ValueId moved = on_.Mul(on_.Mul(columns(v, 0, 2), scalar(h_.family.variance[0])), side);
        return from_centre(on_.Add(pixels(), moved),
                           on_.Mul(on_.Exp(on_.Mul(columns(v, 2, 4), scalar(h_.family.variance[1]))), side));
      }
      case HeadBoxes::bins: return from_distances(mean_of_bins(v));
      case HeadBoxes::distances: return from_distances(v);
      case HeadBoxes::centers:
        return from_centre(on_.Mul(on_.Add(columns(v, 0, 2), table(points_)), table(strides_)),
                           on_.Mul(rows_of(Role::sides), table(strides_)));
    }
    return {};
  }
  ValueId squared(ValueId v) {
    const ValueId at = on_.Sub(on_.Mul(on_.Sigmoid(columns(v, 0, 2)), scalar(2)), scalar(0.5));
    const ValueId twice = on_.Mul(on_.Sigmoid(columns(v, 2, 4)), scalar(2));
    return from_centre(on_.Mul(on_.Add(at, table(points_)), table(strides_)),
                       on_.Mul(on_.Mul(twice, twice), table(sides_)));
  }
  ValueId from_centre(ValueId at, ValueId side) {
    const ValueId half = on_.Mul(side, scalar(0.5));
    return on_.Concat(std::vector{on_.Sub(at, half), on_.Add(at, half)}, {.axis = 2});
  }
  ValueId from_distances(ValueId v) {
    ValueId before = columns(v, 0, 2), after = columns(v, 2, 4);
    if (h_.family.in_strides) before = on_.Mul(before, table(strides_)), after = on_.Mul(after, table(strides_));
    const ValueId at = pixels();
    return on_.Concat(std::vector{on_.Sub(at, before), on_.Add(at, after)}, {.axis = 2});
  }
  ValueId mean_of_bins(ValueId v) {
    std::vector<float> steps(static_cast<size_t>(h_.bins));
    for (size_t i = 0; i < steps.size(); ++i) steps[i] = static_cast<float>(i);
    const ValueId each = on_.Softmax(on_.Reshape(v, on_.ints({0, rows_, coordinates, h_.bins})), {.axis = 3});
    const ValueId mean =
        on_.MatMul(each, on_.constant(ir::Tensor::of(DType::f32, {h_.bins, 1}, std::span<const float>(steps))));
    return on_.Reshape(mean, on_.ints({0, rows_, coordinates}));
  }

  void give(ValueId boxes, ValueId scores) {
    std::vector<ValueId> kept{boxes, scores};
    for (const ValueId v : g_[g_.main()].outputs)
      if (std::none_of(h_.parts.begin(), h_.parts.end(), [&](const HeadPart& p) { return p.value == g_[v].name; }))
        kept.push_back(v);
    g_.rename(boxes, head_boxes);
    g_.rename(scores, head_scores);
    g_.set_region_outputs(g_.main(), std::move(kept));
    remove_dead_code(g_);
  }

  Graph& g_;
  const Heads& h_;
  ops::On on_;
  std::vector<float> points_, strides_, sides_;
  int64_t rows_ = 0;
};

}  // namespace

void decode_heads(Model& m, const Heads& heads) {
  for (const char* name : {head_boxes, head_scores})
    if (has_value(m.graph, name)) throw error("prepare.detector", cat("the model has a value '", name, "' already"));
  Decoding(m, heads).run();
}

}  // namespace cameo::passes
