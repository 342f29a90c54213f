// Deprecated at opset 10 in favour of Resize, which it becomes while reading.
#include <cmath>

#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/on.h"
#include "ops/op_def.h"
#include "ops/preconditions.h"
#include "ops/vision/resize_kernel.h"

namespace cameo::ops {

namespace {

struct Upsample : Rules<op::Upsample> {
  static constexpr double most_scale = 0x1p48;  // beyond it every result is larger than memory

  static void infer(const op::Upsample& a, Infer& c) {
    want_word(c, "mode", a.mode, {"nearest", "linear", "bilinear"});
    want_shape(c, 1, {c.rank(0)}, "'scales'");
    Shape out = c.shape(0);
    const Tensor* scales = c.constant(1);
    for (size_t i = 0; i < out.size(); ++i) {
      const double s = scales ? scales->double_at(static_cast<int64_t>(i)) : 0;
      if (scales && !(s > 0 && s < most_scale)) c.fail("infer.attribute", cat("a scale of ", s));
      const bool whole = s >= 1 && s == std::floor(s);
      if (scales && out[i].is_literal()) out[i] = scaled_size(out[i].literal(), static_cast<float>(s));
      else out[i] = whole ? out[i] * static_cast<int64_t>(s) : c.fresh("resized");
    }
    c.out(0, std::move(out));
  }

  static void eval(const op::Upsample& a, Eval& k) {
    const Tensor& x = k.in(0);
    const Loaded<float> scales(k.in(1));
    if (scales.size() != x.rank()) k.fail("eval.input", "'scales' must have one element per axis");
    std::vector<AxisResize> plan;
    for (int64_t i = 0; i < x.rank(); ++i) {
      const int64_t in = x.shape()[static_cast<size_t>(i)];
      plan.push_back({in, scaled_size(in, scales[i]), static_cast<double>(scales[i])});
    }
    k.out(0, resize(x, plan, {.mode = a.mode, .coordinates = "asymmetric", .nearest = "floor"}));
  }

  static std::vector<float> floats_of(const Tensor& t) {
    const Loaded<float> v(t);
    return {v.span().begin(), v.span().end()};
  }

  static constexpr Revision revisions[] = {
      {7,
       [](Upgrade& u) {
         const float h = u.take_float("height_scale").value_or(1), w = u.take_float("width_scale").value_or(1);
         u.set("scales", std::vector<float>{1, 1, h, w});
       },
       [](Downgrade& d) {
         const auto scales = d.take_floats("scales");
         if (!scales || scales->size() != 4 || (*scales)[0] != 1 || (*scales)[1] != 1)
           return d.refuse("Upsample before opset 7 takes only a height and a width");
         d.set("height_scale", (*scales)[2]);
         d.set("width_scale", (*scales)[3]);
       }},
      {9,
       [](Upgrade& u) {
         const auto scales = u.take_floats("scales").value_or(std::vector<float>{});
         u.set_input(1, u.constant(store(DType::f32, {static_cast<int64_t>(scales.size())}, scales)));
       },
       [](Downgrade& d) {
         const auto scales = d.constant(1);
         if (!scales) return;
         d.set("scales", floats_of(*scales));
         d.inputs.resize(1);
       }},
      {10,
       [](Upgrade& u) {
         const std::string mode = u.take_string("mode").value_or("nearest");
         op::Resize a{.coordinate_transformation_mode = "asymmetric", .mode = mode == "bilinear" ? "linear" : mode};
         if (a.mode == "nearest") a.nearest_mode = "floor";
         u.replace({u.on.Resize(u.input(0), {}, u.input(1), {}, a)});
       }},
  };
};

constexpr OpRules table[] = {rules<Upsample>()};

}  // namespace

std::span<const OpRules> upsample_rules() { return table; }

}  // namespace cameo::ops
