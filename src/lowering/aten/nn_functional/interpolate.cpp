// torch.nn.functional, interpolate: resizing.
#include <cmath>
#include <functional>

#include "lowering/arithmetic.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

enum class Coordinates : uint8_t { asymmetric, half_pixel, align_corners };

// Pictures of bytes: PyTorch resizes rows, rounds halves up, then resizes columns and rounds again. ONNX says nothing
// about how a Resize of bytes rounds.
V rounded_passes(Lower& on, V x, const Opt<Dims>& sizes, const Opt<Floats>& scales,
                 const std::function<V(V, const Opt<Dims>&, const Opt<Floats>&)>& resize) {
  if (on.rank(x) != 4) unsupported("resizing bytes of other than two axes");
  V y = on.to(x, DType::f32);
  for (const size_t axis : {1, 0}) {
    Dims size{on.dim(y, 2), on.dim(y, 3)};
    Floats scale{1, 1};
    if (scales) scale[axis] = scales->at(axis);
    else size[axis] = sizes->at(axis);
    const V pass = scales ? resize(y, {}, scale) : resize(y, size, {});
    y = at_most(on, at_least(on, on.Floor(plus(on, pass, 0.5)), 0), 255);
  }
  return on.to(y, DType::u8);
}

V resized(Lower& on, V x, const Str& mode, Coordinates c, const Opt<Dims>& sizes, const Opt<Floats>& scales) {
  if (on.dtype(x) == DType::u8 && mode != "nearest")
    return rounded_passes(on, x, sizes, scales, [&](V y, const Opt<Dims>& size, const Opt<Floats>& scale) {
      return resized(on, y, mode, c, size, scale);
    });
  const size_t given = scales ? scales->size() : sizes ? sizes->size() : 0;
  if (given == 0 || on.rank(x) != static_cast<int64_t>(given) + 2)
    unsupported(cat("resizing ", on.rank(x), " axes by ", given, " numbers"));
  op::Resize a;
  a.mode = mode;
  a.coordinate_transformation_mode = c == Coordinates::asymmetric      ? "asymmetric"
                                     : c == Coordinates::align_corners ? "align_corners"
                                                                       : "half_pixel";
  if (mode == "nearest") a.nearest_mode = c == Coordinates::asymmetric ? "floor" : "round_prefer_ceil";
  a.cubic_coeff_a = -0.75f;
  if (scales) {
    std::vector<float> all{1, 1};
    for (const double s : *scales) all.push_back(static_cast<float>(s));
    const auto n = static_cast<int64_t>(all.size());
    return on.Resize(x, {}, on.constant(Tensor::of<float>(DType::f32, {n}, all)), {}, a);
  }
  Dims all{on.dim(x, 0), on.dim(x, 1)};
  all.insert(all.end(), sizes->begin(), sizes->end());
  const V y = on.Resize(x, {}, {}, on.int_vector(all), a);
  on.graph().fact(y).type.shape = all;
  return y;
}

// The overloads with explicit sizes carry scales that torch uses for the coordinates when they are given.
template <int N>
V nearest(Lower& on, V x, Dims sizes) {
  return resized(on, x, "nearest", Coordinates::asymmetric, sizes, {});
}

V nearest_vec(Lower& on, V x, Opt<Dims> sizes, Opt<Floats> scales) {
  return resized(on, x, "nearest", Coordinates::asymmetric, sizes, scales);
}

V nearest_exact_vec(Lower& on, V x, Opt<Dims> sizes, Opt<Floats> scales) {
  return resized(on, x, "nearest", Coordinates::half_pixel, sizes, scales);
}

V linear_vec(Lower& on, V x, Opt<Dims> sizes, bool align, Opt<Floats> scales) {
  return resized(on, x, "linear", align ? Coordinates::align_corners : Coordinates::half_pixel, sizes, scales);
}

V linear_sizes(Lower& on, V x, Dims sizes, bool align) {
  return resized(on, x, "linear", align ? Coordinates::align_corners : Coordinates::half_pixel, sizes, {});
}

V cubic_vec(Lower& on, V x, Opt<Dims> sizes, bool align, Opt<Floats> scales) {
  return resized(on, x, "cubic", align ? Coordinates::align_corners : Coordinates::half_pixel, sizes, scales);
}

V cubic_sizes(Lower& on, V x, Dims sizes, bool align) {
  return resized(on, x, "cubic", align ? Coordinates::align_corners : Coordinates::half_pixel, sizes, {});
}

V nearest_exact(Lower& on, V x, Dims sizes) { return resized(on, x, "nearest", Coordinates::half_pixel, sizes, {}); }

V antialiased(Lower& on, V x, const Str& mode, const Opt<Dims>& sizes, bool align, const Opt<Floats>& scales) {
  if (on.dtype(x) == DType::u8)
    return rounded_passes(on, x, sizes, scales, [&](V y, const Opt<Dims>& size, const Opt<Floats>& scale) {
      return antialiased(on, y, mode, size, align, scale);
    });
  op::Resize a;
  a.mode = mode;
  a.antialias = 1;
  a.exclude_outside = 1;    // weights outside the image are dropped, not the border repeated
  a.cubic_coeff_a = -0.5f;  // the antialiased kernel of PyTorch and PIL
  a.coordinate_transformation_mode = align ? "align_corners" : "half_pixel";
  if (on.rank(x) != 4 || (sizes ? sizes->size() : scales ? scales->size() : 0) != 2)
    unsupported("antialiased resizing of other than two axes");
  Dims all{on.dim(x, 0), on.dim(x, 1)};
  for (size_t i = 0; i < 2; ++i) {
    if (sizes) all.push_back((*sizes)[i]);
    else {
      const Opt<int64_t> n = on.known_dim(x, static_cast<int64_t>(i) + 2);
      if (!n) unsupported("antialiased resizing by a factor of an unknown size");
      all.push_back(Dim(static_cast<int64_t>(std::floor(static_cast<double>(*n) * (*scales)[i]))));
    }
  }
  const V y = on.Resize(x, {}, {}, on.int_vector(all), a);
  on.graph().fact(y).type.shape = all;
  return y;
}

constexpr Row table[] = {
    {"aten::upsample_nearest1d", fn<nearest<1>>},
    {"aten::upsample_nearest1d.vec", fn<nearest_vec>},
    {"aten::upsample_nearest2d", fn<nearest<2>>},
    {"aten::upsample_nearest2d.vec", fn<nearest_vec>},
    {"aten::upsample_nearest3d", fn<nearest<3>>},
    {"aten::upsample_nearest3d.vec", fn<nearest_vec>},
    {"aten::_upsample_nearest_exact1d", fn<nearest_exact>},
    {"aten::_upsample_nearest_exact1d.vec", fn<nearest_exact_vec>},
    {"aten::_upsample_nearest_exact2d", fn<nearest_exact>},
    {"aten::_upsample_nearest_exact2d.vec", fn<nearest_exact_vec>},
    {"aten::_upsample_nearest_exact3d", fn<nearest_exact>},
    {"aten::_upsample_nearest_exact3d.vec", fn<nearest_exact_vec>},
    {"aten::upsample_linear1d", fn<linear_sizes>},
    {"aten::upsample_linear1d.vec", fn<linear_vec>},
    {"aten::upsample_bilinear2d", fn<linear_sizes>},
    {"aten::upsample_bilinear2d.vec", fn<linear_vec>},
    {"aten::upsample_trilinear3d", fn<linear_sizes>},
    {"aten::upsample_trilinear3d.vec", fn<linear_vec>},
    {"aten::upsample_bicubic2d", fn<cubic_sizes>},
    {"aten::upsample_bicubic2d.vec", fn<cubic_vec>},
    {"aten::_upsample_bicubic2d_aa",
     [](Lower& on, V x, Dims sizes, bool align) { return antialiased(on, x, "cubic", sizes, align, {}); }},
    {"aten::_upsample_bicubic2d_aa.vec",
     [](Lower& on, V x, Opt<Dims> sizes, bool align, Opt<Floats> scales) {
       return antialiased(on, x, "cubic", sizes, align, scales);
     }},
    {"aten::_upsample_bilinear2d_aa",
     [](Lower& on, V x, Dims sizes, bool align) { return antialiased(on, x, "linear", sizes, align, {}); }},
    {"aten::_upsample_bilinear2d_aa.vec",
     [](Lower& on, V x, Opt<Dims> sizes, bool align, Opt<Floats> scales) {
       return antialiased(on, x, "linear", sizes, align, scales);
     }},
};

}  // namespace

std::span<const Row> nn_functional_interpolate_rows() { return table; }

}  // namespace cameo::lowering
