// The pipeline behind a detector in plain code: what a prepared model is compared with.
#include "api/prepare/detections.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/number_cast.h"
#include "support/error.h"

namespace cameo::preparing {

namespace {

using passes::Activation;
using passes::Background;
using passes::BoxFormat;
using passes::Detector;
using support::cat;

// An output as images of n rows.
struct Rows {
  int64_t images = 1, n = 0, features = 0;
  std::vector<float> numbers;
  float at(int64_t image, int64_t row, int64_t feature) const {
    return numbers[static_cast<size_t>((image * n + row) * features + feature)];
  }
};

Rows rows_of(const Tensor& t, bool last, size_t rank_without_images) {
  std::vector<int64_t> shape = t.shape();
  if (shape.size() == 4) {
    if (shape[2] != 1) throw other_sizes();
    shape.erase(shape.begin() + 2);
  }
  if (shape.size() == rank_without_images) shape.insert(shape.begin(), 1);
  if (shape.size() == 2) shape.push_back(1);
  if (shape.size() != 3) throw other_sizes();
  Rows out{shape[0], shape[last ? 1 : 2], shape[last ? 2 : 1], {}};
  const std::vector<double> numbers = t.to_doubles();
  out.numbers.resize(numbers.size());
  for (int64_t i = 0; i < out.images; ++i)
    for (int64_t r = 0; r < out.n; ++r)
      for (int64_t f = 0; f < out.features; ++f)
        out.numbers[static_cast<size_t>((i * out.n + r) * out.features + f)] =
            static_cast<float>(numbers[static_cast<size_t>(last ? (i * out.n + r) * out.features + f
                                                                : (i * out.features + f) * out.n + r)]);
  return out;
}

// One number for each box.
Rows object_rows(const Tensor& t, int64_t images, int64_t n, bool last) {
  Rows out = t.shape().size() == 3 ? rows_of(t, last, 0) : Rows{images, n, 1, {}};
  if (t.shape().size() != 3)
    for (const double x : t.to_doubles()) out.numbers.push_back(static_cast<float>(x));
  if (out.images != images || out.n != n || out.features != 1 || t.count() != images * n) throw other_sizes();
  return out;
}

float sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

void activate(Activation how, std::vector<float>& scores) {
  if (how == Activation::sigmoid) std::transform(scores.begin(), scores.end(), scores.begin(), sigmoid);
  if (how != Activation::softmax) return;
  const float most = *std::max_element(scores.begin(), scores.end());
  float sum = 0;
  for (float& s : scores) sum += s = std::exp(s - most);
  for (float& s : scores) s /= sum;
}

void as_corners(BoxFormat format, float* b) {
  if (format == BoxFormat::corners) return;
  const float x = b[0], y = b[1], w = b[2], h = b[3], part = format == BoxFormat::center ? 0.5F : 0.0F;
  b[0] = x - w * part, b[1] = y - h * part, b[2] = x + w * (1 - part), b[3] = y + h * (1 - part);
}

void decode(const Detector& d, int64_t row, float* b) {
  for (const passes::GridLevel& l : d.grid) {
    if (row >= l.height * l.width) {
      row -= l.height * l.width;
      continue;
    }
    const auto sx = static_cast<float>(l.stride_x), sy = static_cast<float>(l.stride_y);
    b[0] = (b[0] + static_cast<float>(row % l.width)) * sx, b[1] = (b[1] + static_cast<float>(row / l.width)) * sy;
    b[2] = std::exp(b[2]) * sx, b[3] = std::exp(b[3]) * sy;
    return;
  }
}

float overlap(const float* a, const float* b) {
  const auto area = [](const float* x) { return std::fabs(x[2] - x[0]) * std::fabs(x[3] - x[1]); };
  const auto side = [&](int i) {
    return std::max(0.0F, std::min(std::max(a[i], a[i + 2]), std::max(b[i], b[i + 2])) -
                              std::max(std::min(a[i], a[i + 2]), std::min(b[i], b[i + 2])));
  };
  const float both = side(0) * side(1), all = area(a) + area(b) - both;
  return all > 0 ? both / all : 0;
}

bool close(float a, float b, float scale) {
  return a == b || std::fabs(a - b) <= 1e-3F * std::max(scale, std::fabs(b)) || (std::isnan(a) && std::isnan(b));
}

bool same(const Candidate& a, const Candidate& b) {
  if (a.label != b.label || !close(a.score, b.score, 1e-2F)) return false;
  float scale = 1e-3F;
  for (const float x : b.box) scale = std::max(scale, std::fabs(x));
  for (int i = 0; i < 4; ++i)
    if (!close(a.box[i], b.box[i], scale)) return false;
  return true;
}

}  // namespace

Error other_sizes() {
  return support::error("prepare.detector", "when it runs, the model's outputs have other sizes than it declares")
      .help("declare the sizes of its inputs: --input NAME=DTYPE[SIZES], --fix-size NAME=N");
}

bool are_parts_of_a_picture(const Detector& d, const std::vector<kernels::Datum>& outputs) {
  constexpr float outside = 2;  // boxes may stand over the edge
  constexpr size_t fewest = 4;
  const Candidates all = candidates_of(d, outputs, {});
  size_t n = 0;
  for (const auto& image : all.boxes)
    for (const float x : image) {
      if (!(std::fabs(x) <= outside)) return false;
      ++n;
    }
  return n >= 4 * fewest;
}

Candidates candidates_of(const Detector& d, const std::vector<kernels::Datum>& outputs, const Mapping& map) {
  const Tensor& first = outputs.at(0).tensor;
  const Rows all = rows_of(first, d.features_last, 2);
  const Rows scores = d.joint ? Rows()
                              : rows_of(outputs.at(1).tensor, d.scores_last,
                                        first.rank() == 2 ? (outputs[1].tensor.rank() == 1 ? 1 : 2) : 0);
  const int64_t taken = d.labelled ? 1 : d.classes + (d.background != Background::none);
  const int64_t features = !d.joint ? 4 : d.labelled ? 6 : 4 + d.objectness + taken;
  if (all.features < features ||
      (!d.joint && (scores.images < all.images || scores.n < all.n || scores.features < taken)))
    throw other_sizes();
  const Rows apart = d.object.empty() ? Rows() : object_rows(outputs.back().tensor, all.images, all.n, d.object_last);
  Candidates out;
  out.classes = d.labelled ? 1 : d.classes;
  for (int64_t i = 0; i < all.images; ++i) {
    std::vector<float>&boxes = out.boxes.emplace_back(), &kept = out.scores.emplace_back();
    std::vector<int64_t>& labels = out.labels.emplace_back();
    for (int64_t r = 0; r < all.n; ++r) {
      float b[4] = {all.at(i, r, 0), all.at(i, r, 1), all.at(i, r, 2), all.at(i, r, 3)};
      decode(d, r, b);
      as_corners(d.format, b);
      for (int k = 0; k < 4; ++k) boxes.push_back(b[k] * map.factor[k] + map.offset[k]);
      std::vector<float> s;
      for (int64_t c = 0; c < taken; ++c)
        s.push_back(d.joint ? all.at(i, r, 4 + d.objectness + c) : scores.at(i, r, c));
      activate(d.activation, s);
      if (d.background == Background::first) s.erase(s.begin());
      if (d.background == Background::last) s.pop_back();
      const auto probability = [&](float x) { return d.activation == Activation::none ? x : sigmoid(x); };
      float object = d.objectness ? probability(all.at(i, r, 4)) : 1;
      if (!d.object.empty()) object *= probability(apart.at(i, r, 0));
      for (const float x : s) kept.push_back(x * object);
      if (d.labelled) labels.push_back(kernels::cast_number<int64_t>(all.at(i, r, 5)));
    }
  }
  return out;
}

std::vector<std::vector<Candidate>> pipeline(const Detector& d, const passes::DetectorOptions& o,
                                             const Candidates& from) {
  std::vector<std::vector<Candidate>> out;
  const bool one_label = d.labels == passes::Labels::best || o.agnostic;
  const auto classes = static_cast<size_t>(from.classes);
  for (size_t i = 0; i < from.boxes.size(); ++i) {
    std::vector<Candidate> open;
    for (size_t r = 0; r * 4 < from.boxes[i].size(); ++r) {
      const float* s = from.scores[i].data() + r * classes;
      const auto best = static_cast<size_t>(std::max_element(s, s + classes) - s);
      for (size_t c = 0; c < classes; ++c) {
        if ((one_label && c != best) || !(s[c] > o.score)) continue;
        Candidate& made = open.emplace_back();
        std::copy_n(from.boxes[i].data() + r * 4, 4, made.box);
        made.label = d.labelled ? from.labels[i][r] : static_cast<int64_t>(c);
        made.score = s[c];
      }
    }
    std::stable_sort(open.begin(), open.end(),
                     [](const Candidate& a, const Candidate& b) { return a.score > b.score; });
    std::vector<Candidate>& kept = out.emplace_back();
    const bool suppress = d.suppress && o.form != passes::NmsForm::topk;
    for (const Candidate& c : open) {
      if (static_cast<int64_t>(kept.size()) >= o.max) break;
      if (suppress && std::any_of(kept.begin(), kept.end(), [&](const Candidate& k) {
            return (o.agnostic || k.label == c.label) && overlap(k.box, c.box) > o.iou;
          }))
        continue;
      kept.push_back(c);
    }
  }
  return out;
}

float telling_score(const Candidates& from, float asked) {
  constexpr size_t wanted = 60;
  std::vector<float> all;
  for (const auto& scores : from.scores) all.insert(all.end(), scores.begin(), scores.end());
  const auto passing = static_cast<size_t>(std::count_if(all.begin(), all.end(), [&](float s) { return s > asked; }));
  if (passing >= wanted || all.size() < 2) return asked;
  const size_t at = std::min(wanted, all.size() - 1);
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(at), all.end(), std::greater<>());
  const float found = all[at];
  return std::isfinite(found) ? std::min(found, asked) : asked;
}

std::string difference(const std::vector<std::vector<Candidate>>& wanted, const std::vector<kernels::Datum>& got,
                       passes::NmsForm form, bool several_images) {
  std::vector<std::vector<Candidate>> found(wanted.size());
  const bool flat = form == passes::NmsForm::flat;
  const size_t shift = flat ? 0 : 1;
  const auto boxes = got.at(shift).tensor.to_doubles(), scores = got.at(shift + 1).tensor.to_doubles(),
             labels = got.at(shift + 2).tensor.to_doubles();
  const auto images = flat && several_images ? got.at(3).tensor.to_ints() : std::vector<int64_t>();
  const auto counts = flat ? std::vector<int64_t>() : got.at(0).tensor.to_ints();
  const size_t each = flat ? scores.size() : wanted.empty() ? 0 : scores.size() / wanted.size();
  for (size_t k = 0; k < scores.size(); ++k) {
    const size_t image = !flat ? k / each : images.empty() ? 0 : static_cast<size_t>(images[k]);
    if (image >= found.size()) return cat("a detection belongs to image ", image, ", and there are ", found.size());
    if (!flat && static_cast<int64_t>(k % each) >= counts.at(image)) continue;
    Candidate& c = found[image].emplace_back();
    for (size_t x = 0; x < 4; ++x) c.box[x] = static_cast<float>(boxes.at(k * 4 + x));
    c.score = static_cast<float>(scores[k]), c.label = kernels::cast_number<int64_t>(labels.at(k));
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (found[i].size() != wanted[i].size())
      return cat("image ", i, " has ", found[i].size(), " detections, and ", wanted[i].size(), " in plain code");
    std::vector<bool> taken(found[i].size());
    for (const Candidate& w : wanted[i]) {
      size_t k = 0;
      while (k < taken.size() && (taken[k] || !same(found[i][k], w))) ++k;
      if (k == taken.size()) return cat("image ", i, " lacks a detection of class ", w.label, " with score ", w.score);
      taken[k] = true;
    }
  }
  return "";
}

std::string difference(const Candidates& wanted, const std::vector<kernels::Datum>& got) {
  const auto compare = [](const char* what, const std::vector<std::vector<float>>& a, const Tensor& t) -> std::string {
    const auto b = t.to_doubles();
    size_t k = 0;
    float scale = 1e-3F;
    for (const auto& image : a)
      for (const float x : image) scale = std::max(scale, std::isfinite(x) ? std::fabs(x) : 0.0F);
    for (const auto& image : a)
      for (const float x : image)
        if (k >= b.size() || !close(static_cast<float>(b[k++]), x, scale)) return cat(what, " differ from plain code");
    return k == b.size() ? "" : cat("there are more ", what, " than in plain code");
  };
  const std::string boxes = compare("boxes", wanted.boxes, got.at(0).tensor);
  return boxes.empty() ? compare("scores", wanted.scores, got.at(1).tensor) : boxes;
}

}  // namespace cameo::preparing
