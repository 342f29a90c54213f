// NonMaxSuppression: boxes chosen.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/op_def.h"
#include "ops/preconditions.h"
#include "ops/vision/nms_expand.h"

namespace cameo::ops {

namespace {

struct Box {
  float x0, y0, x1, y1;
  float area() const { return (x1 - x0) * (y1 - y0); }
};

float overlap(const Box& a, const Box& b) {
  const float w = std::min(a.x1, b.x1) - std::max(a.x0, b.x0), h = std::min(a.y1, b.y1) - std::max(a.y0, b.y0);
  if (!(w > 0) || !(h > 0) || a.area() <= 0 || b.area() <= 0) return 0;
  return w * h / (a.area() + b.area() - w * h);
}

struct NonMaxSuppression : Rules<op::NonMaxSuppression> {
  static void infer(const op::NonMaxSuppression&, Infer& c) {
    if (c.rank(0) != 3 || c.rank(1) != 3)
      c.fail("infer.rank", cat("boxes and scores have ranks ", c.rank(0), " and ", c.rank(1), ": 3 is wanted"));
    c.same(c.dim(0, 2), 4, "the numbers of a box");
    c.same(c.dim(0, 1), c.dim(1, 2), "the boxes and their scores");
    c.same(c.dim(0, 0), c.dim(1, 0), "the batches of boxes and scores");
    for (const size_t i : {2, 3, 4})  // or none at all
      if (c.has(i) && !(c.rank(i) == 1 && c.dim(i, 0).is(0))) want_one(c, i, cat("input ", i));
    c.out(0, DType::i64, {c.fresh("selected"), 3});
  }

  static Box box_at(const Loaded<float>& v, int64_t at, bool centred) {
    const float a = v[at], b = v[at + 1], c = v[at + 2], d = v[at + 3];
    if (centred) return {a - c / 2, b - d / 2, a + c / 2, b + d / 2};
    return {std::min(b, d), std::min(a, c), std::max(b, d), std::max(a, c)};
  }

  static void eval(const op::NonMaxSuppression& a, Eval& k) {
    const auto& shape = k.in(0).shape();
    if (shape.size() != 3 || shape[2] != 4 || k.in(1).rank() != 3 || k.in(1).shape()[0] != shape[0] ||
        k.in(1).shape()[2] != shape[1])
      k.fail("eval.shape", "boxes and scores do not suit each other");
    const auto given = [&](size_t i) { return k.has(i) && k.in(i).count() > 0; };
    const int64_t most = given(2) ? std::max<int64_t>(k.int_scalar(2), 0) : 0;
    const auto limit = static_cast<float>(given(3) ? k.double_scalar(3) : 0);
    const Loaded<float> boxes(k.in(0)), scores(k.in(1));
    const int64_t count = shape[1], classes = k.in(1).shape()[1];
    std::vector<int64_t> out;
    for (int64_t b = 0; b < shape[0]; ++b)
      for (int64_t c = 0; c < classes; ++c) {
        const auto score = [&](int64_t i) {
          const float v = scores[(b * classes + c) * count + i];
          return std::isnan(v) ? -std::numeric_limits<float>::infinity() : v;  // so that they can be ordered
        };
        std::vector<int64_t> order;
        for (int64_t i = 0; i < count; ++i)
          if (!given(4) || score(i) > static_cast<float>(k.double_scalar(4))) order.push_back(i);
        std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) { return score(i) > score(j); });
        std::vector<Box> chosen;
        for (const int64_t i : order) {
          if (static_cast<int64_t>(chosen.size()) >= most) break;
          const Box box = box_at(boxes, (b * count + i) * 4, a.center_point_box != 0);
          if (std::any_of(chosen.begin(), chosen.end(), [&](const Box& o) { return overlap(box, o) > limit; }))
            continue;
          chosen.push_back(box);
          out.insert(out.end(), {b, c, i});
        }
      }
    const auto rows = static_cast<int64_t>(out.size()) / 3;
    k.out(0, store(DType::i64, {rows, 3}, out));
  }

  static constexpr Expansion expansions[] = {expansion<op::NonMaxSuppression>(
      10, Exactness::rounding, [](const op::NonMaxSuppression& a, Expand& e) { expand_non_max_suppression(a, e); })};
};

constexpr OpRules table[] = {rules<NonMaxSuppression>()};

}  // namespace

std::span<const OpRules> non_max_suppression_rules() { return table; }

}  // namespace cameo::ops
