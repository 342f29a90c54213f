// Heads of a detector as a step: decoded by operators, compared with the same in plain code.
#include <cmath>

#include "engine/session.h"
#include "ops/soundness.h"
#include "passes/detector/detector.h"
#include "passes/detector/heads.h"
#include "passes/edit.h"
#include "passes/picture/input.h"
#include "quant/samples/samples.h"
#include "runtime/inputs.h"

#include "api/needed_opset.h"
#include "api/prepare/preparing.h"

namespace cameo::preparing {

namespace {

using passes::HeadBoxes;
using passes::HeadLevel;
using passes::HeadPart;
using passes::Heads;

float sigmoid(double x) { return static_cast<float>(1 / (1 + std::exp(-x))); }

// Reads single numbers of the heads, cell by cell.
class Cells {
 public:
  Cells(const Heads& h, const std::vector<kernels::Datum>& outputs) : h_(h) {
    for (const kernels::Datum& d : outputs) numbers_.push_back(d.tensor.to_doubles());
    for (const kernels::Datum& d : outputs) shapes_.push_back(d.tensor.shape());
  }
  int64_t images() const {
    return h_.parts[0].layout == HeadPart::Layout::rows && shapes_[0].size() == 2 ? 1 : shapes_[0][0];
  }

  double at(HeadPart::Role role, int64_t image, size_t level, int64_t cell, int64_t anchor, int64_t feature) const {
    size_t i = 0;
    while (h_.parts[i].role != role || level < h_.parts[i].first_level ||
           level >= h_.parts[i].first_level + h_.parts[i].levels)
      ++i;
    const HeadPart& p = h_.parts[i];
    const HeadLevel& l = h_.levels[level];
    const int64_t cells = l.height * l.width, each = l.per_cell();
    int64_t place = 0;
    if (p.layout == HeadPart::Layout::maps)
      place = (image * shapes_[i][1] + anchor * p.features + feature) * cells + cell;
    else if (p.layout == HeadPart::Layout::channels_last)
      place = (image * cells + cell) * shapes_[i][3] + anchor * p.features + feature;
    else if (p.layout == HeadPart::Layout::anchored)
      place = ((image * each + anchor) * cells + cell) * p.features + feature;
    else
      place = (image * rows_before(i, p.levels, p) + rows_before(i, level - p.first_level, p) + cell * each + anchor) *
                  p.features +
              feature;
    if (place < 0 || static_cast<size_t>(place) >= numbers_[i].size()) throw other_sizes();
    return numbers_[i][static_cast<size_t>(place)];
  }

 private:
  int64_t rows_before(size_t, size_t levels, const HeadPart& p) const {
    int64_t n = 0;
    for (size_t k = 0; k < levels; ++k) {
      const HeadLevel& l = h_.levels[p.first_level + k];
      n += l.height * l.width * l.per_cell();
    }
    return n;
  }
  const Heads& h_;
  std::vector<std::vector<double>> numbers_;
  std::vector<std::vector<int64_t>> shapes_;
};

// One box of a cell as the papers write it.
class Plain {
 public:
  Plain(const Heads& h, const Cells& c) : h_(h), c_(c) {}

  void box(int64_t image, size_t level, int64_t cell, int64_t anchor, std::vector<float>& out) const {
    const HeadLevel& l = h_.levels[level];
    const double x = double(cell % l.width) + double(h_.family.offset),
                 y = double(cell / l.width) + double(h_.family.offset);
    const double aw = l.anchors.empty() ? 1 : l.anchors[size_t(anchor)][0],
                 ah = l.anchors.empty() ? 1 : l.anchors[size_t(anchor)][1];
    const bool joint = h_.parts[0].role == HeadPart::Role::joint;
    const int64_t from = joint && h_.family.classes_first ? h_.classes : 0;
    const auto t = [&](int64_t k) {
      return c_.at(joint ? HeadPart::Role::joint : HeadPart::Role::boxes, image, level, cell, anchor, from + k);
    };
    const auto centred = [&](double cx, double cy, double w, double h) {
      for (const double v : {cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2}) out.push_back(static_cast<float>(v));
    };
    const auto between = [&](double left, double top, double right, double bottom) {
      const double sx = h_.family.in_strides ? l.stride_x : 1, sy = h_.family.in_strides ? l.stride_y : 1;
      for (const double v : {x * l.stride_x - left * sx, y * l.stride_y - top * sy, x * l.stride_x + right * sx,
                             y * l.stride_y + bottom * sy})
        out.push_back(static_cast<float>(v));
    };
    const auto sq = [](double v) { return v * v; };
    switch (h_.family.boxes) {
      case HeadBoxes::exponential:
        return centred((sigmoid(t(0)) + x) * l.stride_x, (sigmoid(t(1)) + y) * l.stride_y, std::exp(t(2)) * aw,
                       std::exp(t(3)) * ah);
      case HeadBoxes::squared:
        return centred((2 * sigmoid(t(0)) - 0.5 + x) * l.stride_x, (2 * sigmoid(t(1)) - 0.5 + y) * l.stride_y,
                       sq(2 * sigmoid(t(2))) * aw, sq(2 * sigmoid(t(3))) * ah);
      case HeadBoxes::deltas: {
        const double a = double(h_.family.variance[0]), b = double(h_.family.variance[1]);
        return centred(x * l.stride_x + t(0) * a * aw, y * l.stride_y + t(1) * a * ah, aw * std::exp(t(2) * b),
                       ah * std::exp(t(3) * b));
      }
      case HeadBoxes::distances: return between(t(0), t(1), t(2), t(3));
      case HeadBoxes::bins: {
        double side[4];
        for (int64_t k = 0; k < 4; ++k) side[k] = mean([&](int64_t i) { return t(k * h_.bins + i); });
        return between(side[0], side[1], side[2], side[3]);
      }
      case HeadBoxes::centers: {
        const auto s = [&](int64_t k) { return c_.at(HeadPart::Role::sides, image, level, cell, anchor, k); };
        return centred((t(0) + x) * l.stride_x, (t(1) + y) * l.stride_y, s(0) * l.stride_x, s(1) * l.stride_y);
      }
    }
  }

  float score(int64_t image, size_t level, int64_t cell, int64_t anchor, int64_t label) const {
    using Role = HeadPart::Role;
    const bool joint = h_.parts[0].role == Role::joint;
    const auto given = [&](int64_t k) {
      return c_.at(joint ? Role::joint : Role::scores, image, level, cell, anchor, k);
    };
    const auto probability = [&](double v) { return h_.activated ? static_cast<float>(v) : sigmoid(v); };
    if (h_.family.softmax) {
      const int64_t columns = scores_part().features, first = columns == h_.classes + 1;
      if (h_.activated) return static_cast<float>(given(label + first));
      double sum = 0;
      for (int64_t k = 0; k < columns; ++k) sum += std::exp(given(k) - given(label + first));
      return static_cast<float>(1 / sum);
    }
    if (h_.family.boxes == HeadBoxes::centers) return peak(image, cell, label);
    if (!joint) {
      const float s = probability(given(label));
      return !h_.family.centerness ? s : std::sqrt(s * sigmoid(c_.at(Role::centerness, image, level, cell, anchor, 0)));
    }
    const int64_t first = h_.family.classes_first ? 0 : 4 * h_.bins + h_.family.objectness;
    return probability(given(first + label)) * (h_.family.objectness ? probability(given(4)) : 1);
  }

 private:
  const HeadPart& scores_part() const {
    size_t i = 0;
    while (h_.parts[i].role != HeadPart::Role::scores) ++i;
    return h_.parts[i];
  }
  template <class F>
  double mean(F bin) const {
    double sum = 0, all = 0, most = bin(0);
    for (int64_t i = 1; i < h_.bins; ++i) most = std::max(most, bin(i));
    for (int64_t i = 0; i < h_.bins; ++i) {
      const double e = std::exp(bin(i) - most);
      sum += e * double(i), all += e;
    }
    return sum / all;
  }
  float peak(int64_t image, int64_t cell, int64_t label) const {
    const HeadLevel& l = h_.levels[0];
    const auto heat = [&](int64_t y, int64_t x) {
      return c_.at(HeadPart::Role::scores, image, 0, y * l.width + x, 0, label);
    };
    const int64_t y = cell / l.width, x = cell % l.width;
    const double own = heat(y, x);
    for (int64_t v = std::max<int64_t>(y - 1, 0); v <= std::min(y + 1, l.height - 1); ++v)
      for (int64_t u = std::max<int64_t>(x - 1, 0); u <= std::min(x + 1, l.width - 1); ++u)
        if (heat(v, u) > own) return 0;
    return h_.activated ? static_cast<float>(own) : sigmoid(own);
  }
  const Heads& h_;
  const Cells& c_;
};

std::string compared(const Heads& h, const std::vector<kernels::Datum>& raw, const std::vector<kernels::Datum>& got) {
  const Cells cells(h, raw);
  const Plain plain(h, cells);
  Candidates wanted;
  wanted.classes = h.classes;
  for (int64_t image = 0; image < cells.images(); ++image) {
    std::vector<float>&boxes = wanted.boxes.emplace_back(), &scores = wanted.scores.emplace_back();
    for (size_t level = 0; level < h.levels.size(); ++level) {
      const HeadLevel& l = h.levels[level];
      const int64_t n = l.height * l.width, each = l.per_cell();
      for (int64_t i = 0; i < n * each; ++i) {
        const int64_t cell = l.anchors_outside ? i % n : i / each, anchor = l.anchors_outside ? i / n : i % each;
        plain.box(image, level, cell, anchor, boxes);
        for (int64_t k = 0; k < h.classes; ++k) scores.push_back(plain.score(image, level, cell, anchor, k));
      }
    }
  }
  return difference(wanted, got);
}

bool as_declared(const ir::Type& type, const std::vector<int64_t>& sizes) {
  if (!type.has_rank() || type.shape->size() != sizes.size()) return false;
  for (size_t i = 0; i < sizes.size(); ++i)
    if (const auto known = (*type.shape)[i].known(); known && *known != sizes[i]) return false;
  return true;
}

}  // namespace

void Preparing::decode_heads() {
  say("decoding heads");
  ModelState s = ModelState::changed(model_);
  ops::admit(s.model);
  infer_types(s);
  const Heads& heads = *heads_;
  const ir::Model before = s.model;
  passes::decode_heads(s.model, heads);
  const std::string checked = compared_with_code("the decoded heads", [&] {
    ir::Model raw = before, made = s.model;
    std::vector<ir::ValueId> outputs;
    for (const HeadPart& p : heads.parts) outputs.push_back(passes::find_value(raw.graph, p.value));
    raw.graph.set_region_outputs(raw.graph.main(), outputs);
    made.graph.set_region_outputs(made.graph.main(), {passes::find_value(made.graph, passes::head_boxes),
                                                      passes::find_value(made.graph, passes::head_scores)});
    const auto inputs = runtime::random_inputs(raw.graph, runtime::run_inputs(raw.graph, false), 0);
    const auto found = engine::Session(raw).run(inputs);
    for (size_t i = 0; i < outputs.size(); ++i)
      if (!as_declared(raw.graph[outputs[i]].fact.type, found[i].tensor.shape())) throw other_sizes();
    return compared(heads, found, engine::Session(made).run(inputs));
  });
  infer_types(s);
  s.opset = needed_opset(s);
  passes::DetectorWords words = words_of(*settings_.detections);
  words.boxes = passes::head_boxes, words.scores = passes::head_scores, words.classes = 0;
  words.format = passes::BoxFormat::corners, words.activation = passes::Activation::none;
  words.background = passes::Background::none, words.normalised = false;
  if (!words.labels) words.labels = heads.family.best ? passes::Labels::best : passes::Labels::all;
  if (!words.suppress && heads.family.boxes == HeadBoxes::centers) words.suppress = false;
  detector_ = passes::find_detector(s.model, words);
  s.inferred.reset();
  model_ = ModelState::make(std::move(s));
  record("heads", heads.text(), checked);
}

}  // namespace cameo::preparing
