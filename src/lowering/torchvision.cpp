// torchvision's own operators: boxes that overlap, regions of feature maps, convolutions with offsets.
#include <limits>

#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

V non_maximum_suppression(Lower& on, V boxes, V scores, double threshold) {
  // Corners may come in any order, so that torchvision's x before y does not matter.
  const V limit = on.On::int_scalar(std::numeric_limits<int32_t>::max());
  const V kept =
      on.NonMaxSuppression(on.unsqueeze(on.to(boxes, DType::f32), {0}), on.unsqueeze(on.to(scores, DType::f32), {0, 1}),
                           limit, on.number(threshold, DType::f32));
  return on.gather_scalar(kept, 1, Dim(2));
}

V region_align(Lower& on, V x, V regions, double scale, int64_t height, int64_t width, int64_t samples, bool aligned) {
  const V batch = on.to(on.gather_scalar(regions, 1, Dim(0)), DType::i64),
          corners = on.slice(regions, 1, Dim(1), Dim(5));
  return on.RoiAlign(x, on.to(corners, on.dtype(x)), batch,
                     {.coordinate_transformation_mode = aligned ? "half_pixel" : "output_half_pixel",
                      .output_height = height,
                      .output_width = width,
                      .sampling_ratio = std::max<int64_t>(0, samples),
                      .spatial_scale = static_cast<float>(scale)});
}

// Every place of the output reads channels of its own: all channels are pooled everywhere, and the diagonal is taken.
std::tuple<V, Arg> position_sensitive_align(Lower& on, V x, V regions, double scale, int64_t height, int64_t width,
                                            int64_t samples) {
  const int64_t places = height * width;
  const V all = region_align(on, x, regions, scale, height, width, samples, true);
  const Dim channels = floor_div(on.dim(x, 1), Dim(places));
  Ints diagonal;
  for (int64_t i = 0; i < places; ++i) diagonal.push_back(i * (places + 1));
  const V taken =
      on.Gather(on.reshape(all, {on.dim(all, 0), channels, Dim(places * places)}), on.ints(diagonal), {.axis = 2});
  return {on.reshape(taken, {on.dim(all, 0), channels, Dim(height), Dim(width)}), Arg()};
}

// The second result, where the maxima were, is used only in training.
std::tuple<V, Arg> region_pool(Lower& on, V x, V regions, double scale, int64_t height, int64_t width) {
  return {on.MaxRoiPool(x, on.to(regions, on.dtype(x)),
                        {.pooled_shape = {height, width}, .spatial_scale = static_cast<float>(scale)}),
          Arg()};
}

V deformed_convolution(Lower& on, V x, V weight, V offset, V mask, V bias, int64_t stride_h, int64_t stride_w,
                       int64_t pad_h, int64_t pad_w, int64_t dilation_h, int64_t dilation_w, int64_t groups,
                       int64_t offset_groups, bool use_mask) {
  return on.DeformConv(
      x, weight, offset, bias, use_mask ? mask.id : ValueId(),
      {.dilations = Ints{dilation_h, dilation_w},
       .group = groups,
       .kernel_shape = Ints{known_size(on, weight, 2, "deform_conv2d"), known_size(on, weight, 3, "deform_conv2d")},
       .offset_group = offset_groups,
       .pads = Ints{pad_h, pad_w, pad_h, pad_w},
       .strides = Ints{stride_h, stride_w}});
}

constexpr Row table[] = {
    {"torchvision::nms", fn<non_maximum_suppression>},           {"torchvision::roi_align", fn<region_align>},
    {"torchvision::ps_roi_align", fn<position_sensitive_align>}, {"torchvision::roi_pool", fn<region_pool>},
    {"torchvision::deform_conv2d", fn<deformed_convolution>},
};

}  // namespace

std::span<const Row> torchvision_rows() { return table; }

}  // namespace cameo::lowering
