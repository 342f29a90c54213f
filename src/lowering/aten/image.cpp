// Padding, resizing, sampling, shuffling of pixels; normalisations over groups.
#include <algorithm>
#include <utility>
#include <cmath>

#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

// The far end before, the near end after: widely run, where Pad's wrap mode is not.
V wrapped(Lower& on, V x, const Dims& pads) {
  const auto rank = on.rank(x);
  for (int64_t axis = 0; axis < rank; ++axis) {
    const Dim size = on.dim(x, axis), before = pads[static_cast<size_t>(axis)],
              after = pads[static_cast<size_t>(rank + axis)];
    Vs parts{x};
    if (!before.is(0)) parts.insert(parts.begin(), on.slice(x, axis, size - before, size));
    if (!after.is(0)) parts.push_back(on.slice(x, axis, Dim(0), after));
    if (parts.size() > 1) x = on.concat(parts, axis);
  }
  return x;
}

// torch's pads start at the last axis: (left, right, top, bottom, ...).
V padded(Lower& on, V x, const Dims& pads, const Str& mode, const Opt<Num>& value) {
  const auto rank = static_cast<size_t>(on.rank(x));
  if (pads.size() > rank * 2) unsupported(cat(pads.size(), " pads of a tensor with ", rank, " axes"));
  Dims all(rank * 2, Dim(0));
  bool negative = false, nothing = true;
  for (size_t i = 0; i * 2 + 1 < pads.size(); ++i) {
    const size_t axis = rank - 1 - i;
    all[axis] = pads[2 * i];
    all[rank + axis] = pads[2 * i + 1];
    for (const Dim d : {pads[2 * i], pads[2 * i + 1]})
      nothing &= d.is(0), negative |= d.is_literal() && d.literal() < 0;
  }
  if (nothing) return x;
  Dims crop(rank * 2, Dim(0));
  if (negative)
    for (size_t i = 0; i < rank * 2; ++i)
      if (all[i].is_literal() && all[i].literal() < 0) crop[i] = -std::exchange(all[i], Dim(0));
  const auto cropped = [&](V y) {
    for (size_t i = 0; negative && i < rank; ++i)
      y = on.slice(y, static_cast<int64_t>(i), crop[i], on.dim(y, static_cast<int64_t>(i)) - crop[rank + i]);
    return y;
  };
  if (mode == "constant" || mode == "circular") x = cropped(x);
  if (mode == "circular") return wrapped(on, x, all);
  static constexpr std::pair<std::string_view, std::string_view> modes[] = {
      {"constant", "constant"}, {"reflect", "reflect"}, {"replicate", "edge"}};
  const auto* found = std::find_if(std::begin(modes), std::end(modes), [&](const auto& m) { return m.first == mode; });
  if (found == std::end(modes)) unsupported(cat("pad mode ", mode));
  const V fill = mode == "constant" && value && !value->is(0) ? on.scalar_like(*value, x) : V();
  const V y = on.Pad(x, on.int_vector(all), fill, {}, {.mode = std::string(found->second)});
  return mode == "constant" ? y : cropped(y);  // what is repeated or mirrored is the whole tensor
}

enum class Coordinates : uint8_t { asymmetric, half_pixel, align_corners };

V resized(Lower& on, V x, const Str& mode, Coordinates c, const Opt<Dims>& sizes, const Opt<Floats>& scales,
          bool antialias = false) {
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
  a.antialias = antialias;
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

V group_norm(Lower& on, V x, int64_t groups, Opt<V> w, Opt<V> b, double eps) {
  const Dims channels{on.dim(x, 1)};
  const V scale = w ? *w : on.full(channels, Num(1.0), on.dtype(x)),
          shift = b ? *b : on.full(channels, Num(0.0), on.dtype(x));
  return on.GroupNormalization(x, scale, shift, {.epsilon = static_cast<float>(eps), .num_groups = groups});
}

V instance_norm(Lower& on, V x, Opt<V> w, Opt<V> b, Opt<V> mean, Opt<V> var, bool use_input_stats, double, double eps) {
  const Dims channels{on.dim(x, 1)};
  const V scale = w ? *w : on.full(channels, Num(1.0), on.dtype(x)),
          shift = b ? *b : on.full(channels, Num(0.0), on.dtype(x));
  if (use_input_stats || !mean || !var)
    return on.InstanceNormalization(x, scale, shift, {.epsilon = static_cast<float>(eps)});
  return on.BatchNormalization(x, scale, shift, *mean, *var, 1, {.epsilon = static_cast<float>(eps)})[0];
}

V pixel_shuffle(Lower& on, V x, int64_t r) { return on.DepthToSpace(x, {.blocksize = r, .mode = "CRD"}); }

V pixel_unshuffle(Lower& on, V x, int64_t r) {
  if (on.rank(x) != 4)
    unsupported(cat("pixel_unshuffle of a tensor with ", on.rank(x), " axes"), "give it a batch axis");
  const Dims s = on.shape(x);
  const V parts = on.reshape(x, {s[0], s[1], floor_div(s[2], Dim(r)), Dim(r), floor_div(s[3], Dim(r)), Dim(r)});
  return on.reshape(on.transpose(parts, {0, 1, 3, 5, 2, 4}),
                    {s[0], s[1] * Dim(r * r), floor_div(s[2], Dim(r)), floor_div(s[3], Dim(r))});
}

V grid_sample(Lower& on, V x, V grid, int64_t mode, int64_t padding, bool align) {
  if (mode < 0 || mode > 2 || padding < 0 || padding > 2)
    unsupported(cat("grid_sample of mode ", mode, " and padding ", padding));
  static constexpr std::string_view modes[] = {"linear", "nearest", "cubic"},
                                    paddings[] = {"zeros", "border", "reflection"};
  return on.GridSample(
      x, grid,
      {.align_corners = align, .mode = std::string(modes[mode]), .padding_mode = std::string(paddings[padding])});
}

V flip(Lower& on, V x, Ints dims) {
  if (dims.empty() || on.rank(x) == 0) return x;
  const Ints axes = on.axes(x, dims);
  const Ints starts(axes.size(), -1), ends(axes.size(), INT64_MIN + 1), steps(axes.size(), -1);
  const V y = on.Slice(x, on.ints(starts), on.ints(ends), on.ints(axes), on.ints(steps));
  on.graph().fact(y).type.shape = on.shape(x);
  return y;
}

V roll(Lower& on, V x, Dims shifts, Ints dims) {
  if (dims.empty()) {
    const Dims shape = on.shape(x);
    return on.reshape(roll(on, on.reshape(x, {element_count(shape)}), shifts, {0}), shape);
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t axis = on.axis(x, dims[i]);
    const Dim size = on.dim(x, axis);
    if (size.is(0)) continue;
    const auto& facts = on.graph().facts;
    const Dim back = shifts[i] * -1,
              ahead = size + back;  // the first element of the result, where the shift is smaller than the size
    const auto inside = [&](Dim d) {
      return facts.less_equal(Dim(0), d) == Answer::yes && facts.less_equal(d, size) == Answer::yes;
    };
    const Dim at = size.is_literal() || !(inside(back) || inside(ahead)) ? facts.simplify(mod(back, size))
                   : inside(back)                                        ? back
                                                                         : ahead;
    if (at.is(0)) continue;
    x = on.concat({on.slice(x, axis, at, size), on.slice(x, axis, Dim(0), at)}, axis);
  }
  return x;
}

V triangle(Lower& on, V x, Dim k, bool upper) {
  const bool bools = on.is_bool(x);
  const V y = on.Trilu(bools ? on.to(x, DType::i32) : x, on.int_scalar(k), {.upper = upper});
  return bools ? on.to(y, DType::boolean) : y;
}

V nearest_exact(Lower& on, V x, Dims sizes) { return resized(on, x, "nearest", Coordinates::half_pixel, sizes, {}); }

V half_rolled(Lower& on, V x, const Opt<Ints>& dims, bool back) {
  const Ints axes = dims ? on.axes(x, *dims) : on.all_axes(x);
  Dims shifts;
  for (const int64_t a : axes)
    shifts.push_back(back ? ceil_div(on.dim(x, a), Dim(2)) : floor_div(on.dim(x, a), Dim(2)));
  return axes.empty() ? x : roll(on, x, shifts, axes);
}

// Where the pixels' middles or the corners lie between -1 and 1.
V places_along(Lower& on, Dim size, bool align, DType t) {
  const V n = on.to(on.int_scalar(size), t), i = on.to(iota(on, size), t), one = on.number(1, t), two = on.number(2, t);
  if (size.is(1)) return on.full({size}, Num(0.0), t);
  if (align) return on.Sub(on.Div(on.Mul(i, two), on.Sub(n, one)), one);
  return on.Sub(on.Div(on.Add(on.Mul(i, two), one), n), one);
}
// Every place of the grid, with a one added, times the transposed matrix.
V affine_grid(Lower& on, V theta, Dims sizes, bool align) {
  const DType t = on.dtype(theta);
  if (sizes.size() < 3) unsupported(cat("a grid of ", sizes.size(), " sizes"), "batch, channels, height and width");
  const auto space = static_cast<int64_t>(sizes.size()) - 2;
  const Dims grid(sizes.begin() + 2, sizes.end());
  Vs columns;  // x before y before z
  for (int64_t i = space; i-- > 0;)
    columns.push_back(
        on.reshape(on.expand(reach(on, places_along(on, grid[static_cast<size_t>(i)], align, t), i, space), grid),
                   {element_count(grid), Dim(1)}));
  columns.push_back(on.full({element_count(grid), Dim(1)}, Num(1.0), t));
  Dims out{on.dim(theta, 0)};
  out.insert(out.end(), grid.begin(), grid.end());
  out.push_back(Dim(space));
  return on.reshape(on.MatMul(on.concat(columns, 1), on.transpose(theta, {0, 2, 1})), out);
}

constexpr Row table[] = {
    {"aten::_upsample_nearest_exact1d", fn<nearest_exact>},
    {"aten::_upsample_nearest_exact2d", fn<nearest_exact>},
    {"aten::_upsample_nearest_exact3d", fn<nearest_exact>},
    {"aten::fft_fftshift", [](Lower& on, V x, Opt<Ints> dims) { return half_rolled(on, x, dims, false); }},
    {"aten::fft_ifftshift", [](Lower& on, V x, Opt<Ints> dims) { return half_rolled(on, x, dims, true); }},
    {"aten::pad", [](Lower& on, V x, Dims pads, Str mode, Opt<Num> v) { return padded(on, x, pads, mode, v); }},
    {"aten::constant_pad_nd", [](Lower& on, V x, Dims pads, Num v) { return padded(on, x, pads, "constant", v); }},
    {"aten::reflection_pad1d", [](Lower& on, V x, Dims pads) { return padded(on, x, pads, "reflect", {}); }},
    {"aten::reflection_pad2d", [](Lower& on, V x, Dims pads) { return padded(on, x, pads, "reflect", {}); }},
    {"aten::affine_grid_generator", fn<affine_grid>},
    {"aten::replication_pad1d", [](Lower& on, V x, Dims pads) { return padded(on, x, pads, "replicate", {}); }},
    {"aten::replication_pad2d", [](Lower& on, V x, Dims pads) { return padded(on, x, pads, "replicate", {}); }},
    {"aten::replication_pad3d", [](Lower& on, V x, Dims pads) { return padded(on, x, pads, "replicate", {}); }},
    {"aten::upsample_nearest1d", fn<nearest<1>>},
    {"aten::upsample_nearest2d", fn<nearest<2>>},
    {"aten::upsample_nearest3d", fn<nearest<3>>},
    {"aten::upsample_nearest1d.vec", fn<nearest_vec>},
    {"aten::upsample_nearest2d.vec", fn<nearest_vec>},
    {"aten::upsample_nearest3d.vec", fn<nearest_vec>},
    {"aten::_upsample_nearest_exact1d.vec", fn<nearest_exact_vec>},
    {"aten::_upsample_nearest_exact2d.vec", fn<nearest_exact_vec>},
    {"aten::_upsample_nearest_exact3d.vec", fn<nearest_exact_vec>},
    {"aten::upsample_linear1d", fn<linear_sizes>},
    {"aten::upsample_bilinear2d", fn<linear_sizes>},
    {"aten::upsample_trilinear3d", fn<linear_sizes>},
    {"aten::upsample_linear1d.vec", fn<linear_vec>},
    {"aten::upsample_bilinear2d.vec", fn<linear_vec>},
    {"aten::upsample_trilinear3d.vec", fn<linear_vec>},
    {"aten::upsample_bicubic2d", fn<cubic_sizes>},
    {"aten::upsample_bicubic2d.vec", fn<cubic_vec>},
    {"aten::group_norm", fn<group_norm>},
    {"aten::instance_norm", fn<instance_norm>},
    {"aten::rms_norm",
     [](Lower& on, V x, Dims shape, Opt<V> w, Opt<double> eps) {
       const V scale = w ? *w : on.full(shape, Num(1.0), on.dtype(x));
       return V(on.RMSNormalization(x, scale,
                                    {.axis = -static_cast<int64_t>(shape.size()),
                                     .epsilon = static_cast<float>(eps.value_or(1.1920928955078125e-07))}));
     }},
    {"aten::pixel_shuffle", fn<pixel_shuffle>},
    {"aten::pixel_unshuffle", fn<pixel_unshuffle>},
    {"aten::grid_sampler", fn<grid_sample>},
    {"aten::grid_sampler_2d", fn<grid_sample>},
    {"aten::grid_sampler_3d", fn<grid_sample>},
    {"aten::flip", fn<flip>},
    {"aten::roll", fn<roll>},
    {"aten::tril", [](Lower& on, V x, Dim k) { return triangle(on, x, k, false); }},
    {"aten::triu", [](Lower& on, V x, Dim k) { return triangle(on, x, k, true); }},
    {"aten::einsum",
     [](Lower& on, Str equation, Vs parts) {
       std::erase(equation, ' ');
       return V(on.Einsum(std::vector<ValueId>(parts.begin(), parts.end()), {.equation = equation}));
     }},
};

}  // namespace

std::span<const Row> image_rows() { return table; }

}  // namespace cameo::lowering
