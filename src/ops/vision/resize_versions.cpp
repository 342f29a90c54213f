#include "ops/vision/resize_versions.h"

#include <algorithm>
#include <cmath>

#include "kernels/carrier.h"
#include "ops/nn/expansions.h"
#include "ops/on.h"
#include "support/error.h"

namespace cameo::ops {

// Opset 10 had only scales; positions were x / scale, the nearest element the one before.
void resize_from_10(Upgrade& u) {
  u.inputs = {u.input(0), {}, u.input(1)};
  u.set("coordinate_transformation_mode", std::string("asymmetric"));
  if (u.take_string("mode").value_or("nearest") == "linear") u.set("mode", std::string("linear"));
  else u.set("nearest_mode", std::string("floor"));
}

// tf_half_pixel_for_nn was dropped at 13. It is half_pixel shifted by half an element, which rounding up undoes.
void resize_from_12(Upgrade& u) {
  const auto mode = u.take_string("coordinate_transformation_mode");
  if (!mode) return;
  u.set("coordinate_transformation_mode", *mode);
  if (*mode != "tf_half_pixel_for_nn") return;
  if (u.take_string("nearest_mode").value_or("round_prefer_floor") != "floor")
    throw error("model.upgrade",
                "Resize with coordinate_transformation_mode tf_half_pixel_for_nn has a newer form only with "
                "nearest_mode floor");
  u.set("coordinate_transformation_mode", std::string("half_pixel"));
  u.set("nearest_mode", std::string("round_prefer_ceil"));
}

namespace {

std::optional<std::vector<float>> constant_scales(const Graph& g, ValueId v) {
  const auto t = v ? g.constant(v) : std::nullopt;
  if (!t) return std::nullopt;
  std::vector<float> out;
  for (const double s : t->to_doubles()) out.push_back(static_cast<float>(s));
  return out;
}

// Whether asymmetric positions with the element before say the same. Enlarging by whole numbers, all modes that map
// pixel centres to pixel centres agree.
bool like_opset_10(std::string_view mode, std::string_view coordinates, std::string_view nearest,
                   const std::optional<std::vector<float>>& scales) {
  if (mode == "linear") return coordinates == "asymmetric";
  if (mode != "nearest") return false;
  if (coordinates == "asymmetric" && nearest == "floor") return true;
  const bool whole =
      scales && std::all_of(scales->begin(), scales->end(), [](float s) { return s >= 1 && s == std::floor(s); });
  const bool centred =
      coordinates == "half_pixel" || coordinates == "half_pixel_symmetric" || coordinates == "pytorch_half_pixel";
  return whole && centred && (nearest == "round_prefer_floor" || nearest == "round_prefer_ceil");
}

Tensor floats(const std::vector<float>& v) { return store(DType::f32, {static_cast<int64_t>(v.size())}, v); }

constexpr std::string_view why_not_10 = "before opset 11 there is only x / scale with the element before, or linear";

}  // namespace

bool resize_is_like_10(const op::Resize& a, const Graph& g, NodeId n) {
  return like_opset_10(a.mode, a.coordinate_transformation_mode, a.nearest_mode, constant_scales(g, g.input(n, 2)));
}

bool resize_shrinks(const Graph& g, NodeId n) {
  const auto scales = constant_scales(g, g.input(n, 2));
  return scales && std::any_of(scales->begin(), scales->end(), [](float s) { return s < 1; });
}

void resize_to_10(Downgrade& d) {
  const auto mode = d.take_string("mode").value_or("nearest");
  const auto coordinates = d.take_string("coordinate_transformation_mode").value_or("half_pixel");
  const auto nearest = d.take_string("nearest_mode").value_or("round_prefer_floor");
  if (!like_opset_10(mode, coordinates, nearest, constant_scales(d.graph, d.input(2))))
    return d.refuse(std::string(why_not_10));
  for (const auto name : {"exclude_outside", "extrapolation_value", "cubic_coeff_a"}) d.drop(name);
  if (mode != "nearest") d.set("mode", mode);
  d.inputs = {d.input(0), d.input(2)};
}

// What opset 10 says was Upsample before, as long as nothing shrinks.
void resize_to_upsample(Downgrade& d) {
  d.op_type = "Upsample";
  for (const float s : constant_scales(d.graph, d.input(1)).value_or(std::vector<float>{}))
    if (s < 1) d.refuse("Upsample does not shrink");
}

void resize_to_17(Downgrade& d) {
  d.drop_default("antialias", int64_t{0});
  d.drop("keep_aspect_ratio_policy");
}

void resize_to_18(Downgrade& d) {
  const auto mode = d.take_string("coordinate_transformation_mode");
  if (mode == "half_pixel_symmetric") return d.refuse("half_pixel_symmetric exists from opset 19 on");
  if (mode) d.set("coordinate_transformation_mode", *mode);
}

// All axes spelled out, the aspect ratio worked out.
void resize_without_axes(const op::Resize& a, Expand& e) {
  On& on = e.on;
  if (!ranks_known(e)) return e.refuse("the rank of an operand is unknown");
  const Shape shape = e.fact(0).shape();  // a copy: emitting moves values
  op::Resize plain = a;
  plain.axes.reset();
  plain.keep_aspect_ratio_policy = "stretch";
  const auto at = [&](size_t i) {
    const int64_t ax = (*a.axes)[i];
    return static_cast<size_t>(ax < 0 ? ax + static_cast<int64_t>(shape.size()) : ax);
  };
  if (e.has(1) && a.coordinate_transformation_mode == "tf_crop_and_resize" && a.axes)
    return e.refuse("a region of interest for some axes only");
  if (e.has(3)) {
    const auto out = known_shape(e.graph[e.graph[e.node].outputs[0]].fact.has_rank()
                                     ? e.graph[e.graph[e.node].outputs[0]].fact.shape()
                                     : Shape{Dim(-1)});
    if (out && out->size() == shape.size()) return e.replace({on.Resize(e.in(0), e.in(1), {}, on.ints(*out), plain)});
    if (a.keep_aspect_ratio_policy != "stretch") return e.refuse("the aspect ratio is known only when the model runs");
    const ValueId sizes = on.Shape(e.in(0));
    std::vector<int64_t> where;
    for (size_t i = 0; i < a.axes->size(); ++i) where.push_back(static_cast<int64_t>(at(i)));
    const ValueId index = on.Unsqueeze(on.ints(where), on.ints({1}));
    return e.replace({on.Resize(e.in(0), e.in(1), {}, on.ScatterND(sizes, index, e.in(3)), plain)});
  }
  const auto scales = constant_scales(e.graph, e.in(2));
  if (!a.axes) return e.replace({on.Resize(e.in(0), e.in(1), e.in(2), {}, plain)});
  if (!scales || scales->size() != a.axes->size())
    return e.refuse("scales for some axes that are computed by the model");
  std::vector<float> all(shape.size(), 1.0f);
  for (size_t i = 0; i < scales->size(); ++i) all[at(i)] = (*scales)[i];
  e.replace({on.Resize(e.in(0), e.in(1), on.constant(floats(all)), {}, plain)});
}

// Before 13 the region and the scales had to be there, empty when they do not matter.
void resize_with_all_operands(const op::Resize& a, Expand& e) {
  const ValueId none = e.on.constant(zeros(DType::f32, {0}));
  e.replace({e.on.Resize(e.in(0), e.has(1) ? e.in(1) : none, e.has(2) ? e.in(2) : none, e.in(3), a)});
}

// Sizes as scales, where a float scale gives exactly them.
void resize_by_scales(const op::Resize& a, Expand& e) {
  const auto sizes = e.graph.constant(e.in(3));
  const auto shape = e.fact(0).has_rank() ? known_shape(e.fact(0).shape()) : std::nullopt;
  if (!sizes || !shape || sizes->count() != static_cast<int64_t>(shape->size()))
    return e.refuse("before opset 11 sizes must be constant and the input's shape known");
  std::vector<float> scales;
  for (size_t i = 0; i < shape->size(); ++i) {
    const int64_t in = (*shape)[i], out = sizes->int_at(static_cast<int64_t>(i));
    scales.push_back(in ? static_cast<float>(out) / static_cast<float>(in) : 1);
    if (static_cast<int64_t>(std::floor(static_cast<float>(in) * scales.back())) != out)
      return e.refuse(cat("no scale takes ", in, " to ", out));
  }
  e.replace({e.on.Resize(e.in(0), e.in(1), e.on.constant(floats(scales)), {}, a)});
}

}  // namespace cameo::ops
