#include <algorithm>
#include <cmath>

#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/on.h"
#include "ops/op_def.h"
#include "ops/preconditions.h"
#include "ops/vision/resize_expand.h"
#include "ops/vision/resize_kernel.h"
#include "ops/vision/resize_versions.h"
#include "support/endian.h"

namespace cameo::ops {

namespace {

struct Resize : Rules<op::Resize> {
  using A = op::Resize;

  static Dim scaled(Dim size, float scale) {
    if (size.is_literal()) return scaled_size(size.literal(), scale);
    int exponent = 0;
    // A short binary fraction p / 2^k multiplies exactly.
    for (float p = scale; exponent < 8; ++exponent, p *= 2)
      if (p == std::floor(p) && p < 65536) return floor_div(size * static_cast<int64_t>(p), int64_t{1} << exponent);
    const Dim args[] = {size, static_cast<int64_t>(bit_cast<uint32_t>(scale))};
    return opaque("resized", args);
  }

  static std::vector<int64_t> all_axes(const A& a, int64_t rank) {
    std::vector<int64_t> axes;
    if (a.axes) axes = *a.axes;
    else
      for (int64_t i = 0; i < rank; ++i) axes.push_back(i);
    return axes;
  }

  static void want_attributes(const A& a, Infer& c) {
    want_word(c, "mode", a.mode, {"nearest", "linear", "cubic"});
    want_word(c, "coordinate_transformation_mode", a.coordinate_transformation_mode,
              {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
               "tf_crop_and_resize"});
    want_word(c, "nearest_mode", a.nearest_mode, {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
    want_word(c, "keep_aspect_ratio_policy", a.keep_aspect_ratio_policy, {"stretch", "not_larger", "not_smaller"});
    if (a.antialias && a.mode == "nearest") c.fail("infer.attribute", "antialiasing of the nearest element");
  }

  static void infer(const A& a, Infer& c) {
    want_attributes(a, c);
    const auto axes = c.axes(all_axes(a, c.rank(0)), c.rank(0));
    for (size_t i = 1; i < 4; ++i)
      if (c.has(i)) want_rank(c, i, 1, cat("input ", i));
    if (a.coordinate_transformation_mode == "tf_crop_and_resize") {
      if (!c.has(1)) c.fail("infer.input", "tf_crop_and_resize needs a region");
      c.same(c.dim(1, 0), 2 * static_cast<int64_t>(axes.size()), "the region's numbers and two per axis");
    }
    Shape out = c.shape(0);
    const auto count_is = [&](size_t i, size_t n) {
      if (n != axes.size())
        c.fail("infer.mismatch",
               cat(i == 2 ? "'scales'" : "'sizes'", " has ", n, " elements for ", axes.size(), " axes"));
    };
    if (c.has(3) && !c.length(3).has_value()) return c.out(0, unknown(c, out, axes));
    if (c.has(3) && *c.length(3) > 0) {
      const auto sizes = c.ints(3);
      count_is(3, static_cast<size_t>(*c.length(3)));
      out = sizes ? with_sizes(a, c, out, axes, *sizes) : unknown(c, out, axes);
    } else if (const Tensor* scales = c.has(2) ? c.constant(2) : nullptr) {
      count_is(2, static_cast<size_t>(scales->count()));
      for (size_t i = 0; i < axes.size(); ++i) {
        const auto s = static_cast<float>(scales->double_at(static_cast<int64_t>(i)));
        if (!(s > 0) || std::isinf(s)) c.fail("infer.attribute", cat("a scale of ", static_cast<double>(s)));
        Dim& d = out[static_cast<size_t>(axes[i])];
        d = scaled(d, s);
      }
    } else if (c.has(2)) {
      if (const auto n = c.length(2)) count_is(2, static_cast<size_t>(*n));
      out = unknown(c, out, axes);
    } else c.fail("infer.input", "neither 'scales' nor 'sizes' is given");
    for (const int64_t ax : axes)
      if (const Dim d = out[static_cast<size_t>(ax)]; c.dim(0, ax).is(0) && d.is_literal() && !d.is(0))
        c.fail("infer.mismatch", cat("an axis of size 0 cannot be resized to ", d.text()));
    c.out(0, std::move(out));
  }

  static Shape unknown(Infer& c, Shape out, const std::vector<int64_t>& axes) {
    for (const int64_t a : axes) out[static_cast<size_t>(a)] = c.fresh("resized");
    return out;
  }

  static Shape with_sizes(const A& a, Infer& c, Shape out, const std::vector<int64_t>& axes,
                          const std::vector<Dim>& sizes) {
    if (a.keep_aspect_ratio_policy == "stretch" || axes.empty()) {
      for (size_t i = 0; i < axes.size(); ++i) out[static_cast<size_t>(axes[i])] = sizes[i];
      return out;
    }
    std::vector<int64_t> in, wanted;
    for (size_t i = 0; i < axes.size(); ++i) {
      const Dim d = out[static_cast<size_t>(axes[i])];
      if (!d.is_literal() || !sizes[i].is_literal()) return unknown(c, out, axes);
      in.push_back(d.literal()), wanted.push_back(sizes[i].literal());
    }
    const double scale = kept_scale(a, in, wanted);
    for (size_t i = 0; i < axes.size(); ++i) out[static_cast<size_t>(axes[i])] = kept_size(in[i], scale);
    return out;
  }

  static double kept_scale(const A& a, const std::vector<int64_t>& in, const std::vector<int64_t>& wanted) {
    const bool smallest = a.keep_aspect_ratio_policy == "not_larger";
    if (!smallest && a.keep_aspect_ratio_policy != "not_smaller")
      throw error("eval.attribute", cat("keep_aspect_ratio_policy '", a.keep_aspect_ratio_policy,
                                        "' is not one of stretch, not_larger, not_smaller"));
    double scale = static_cast<double>(wanted[0]) / static_cast<double>(in[0]);
    for (size_t i = 1; i < in.size(); ++i) {
      const double s = static_cast<double>(wanted[i]) / static_cast<double>(in[i]);
      scale = smallest ? std::min(scale, s) : std::max(scale, s);
    }
    return scale;
  }
  static int64_t kept_size(int64_t in, double scale) { return resized_size(scale * static_cast<double>(in) + 0.5); }

  static void eval(const A& a, Eval& k) {
    const Tensor& x = k.in(0);
    std::vector<AxisResize> plan(static_cast<size_t>(x.rank()));
    for (size_t i = 0; i < plan.size(); ++i) plan[i].in = plan[i].out = x.shape()[i];
    std::vector<int64_t> axes = all_axes(a, x.rank());
    for (int64_t& ax : axes) ax = k.axis(ax, x.rank());
    const bool by_size = k.has(3) && k.in(3).count() > 0;
    const size_t from = by_size ? 3 : 2;
    if (!k.has(from) || k.in(from).count() != static_cast<int64_t>(axes.size()))
      k.fail("eval.input", "'scales' or 'sizes' must have one element per axis");
    if (by_size) plan_sizes(a, plan, axes, k.ints(3));
    for (size_t i = 0; i < axes.size(); ++i) {
      AxisResize& p = plan[static_cast<size_t>(axes[i])];
      if (!by_size) {
        const auto s = static_cast<float>(k.in(2).double_at(static_cast<int64_t>(i)));
        p.scale = static_cast<double>(s), p.out = scaled_size(p.in, s);
      }
      if (a.coordinate_transformation_mode == "tf_crop_and_resize") {
        if (k.in(1).count() != 2 * static_cast<int64_t>(axes.size()))
          k.fail("eval.input", "'roi' must have two elements per axis");
        p.start = k.in(1).double_at(static_cast<int64_t>(i)),
        p.end = k.in(1).double_at(static_cast<int64_t>(i + axes.size()));
      }
    }
    if (a.antialias && a.mode == "nearest") k.fail("eval.attribute", "antialiasing of the nearest element");
    k.out(0, resize(x, plan,
                    {a.mode, a.coordinate_transformation_mode, a.nearest_mode, static_cast<double>(a.cubic_coeff_a),
                     static_cast<double>(a.extrapolation_value), a.antialias != 0, a.exclude_outside != 0}));
  }

  static void plan_sizes(const A& a, std::vector<AxisResize>& plan, const std::vector<int64_t>& axes,
                         std::vector<int64_t> sizes) {
    std::vector<int64_t> in;
    for (const int64_t ax : axes) in.push_back(plan[static_cast<size_t>(ax)].in);
    const bool stretch = a.keep_aspect_ratio_policy == "stretch" || axes.empty();
    const double kept = stretch ? 0 : kept_scale(a, in, sizes);
    for (size_t i = 0; i < axes.size(); ++i) {
      AxisResize& p = plan[static_cast<size_t>(axes[i])];
      p.out = stretch ? sizes[i] : kept_size(p.in, kept);
      p.scale = stretch ? static_cast<double>(p.out) / static_cast<double>(p.in) : kept;
      if (p.in == 0) p.scale = 1;
    }
  }

  static constexpr Revision revisions[] = {
      {10, nullptr, resize_to_upsample}, {11, resize_from_10, resize_to_10}, {13, resize_from_12, nullptr},
      {18, nullptr, resize_to_17},       {19, nullptr, resize_to_18},
  };
  static constexpr Expansion expansions[] = {
      // For engines that lack a form of it; every opset from 18 on has them all.
      expansion<A>(
          0, Exactness::rounding, [](const A& a, Expand& e) { expand_resize(a, e); },
          [](const A& a, const Graph&, NodeId, int64_t) {
            return a.antialias || a.exclude_outside || a.mode == "cubic" ||
                   a.coordinate_transformation_mode == "tf_crop_and_resize";
          }),
      expansion<A>(
          18, Exactness::exact, [](const A& a, Expand& e) { resize_without_axes(a, e); },
          [](const A& a, const Graph&, NodeId, int64_t) { return a.axes || a.keep_aspect_ratio_policy != "stretch"; }),
      expansion<A>(
          13, Exactness::exact, [](const A& a, Expand& e) { resize_with_all_operands(a, e); },
          [](const A&, const Graph& g, NodeId n, int64_t target) {
            return target > 10 && (!g.input(n, 1) || !g.input(n, 2));
          }),
      expansion<A>(
          11, Exactness::exact, [](const A& a, Expand& e) { resize_by_scales(a, e); },
          [](const A&, const Graph& g, NodeId n, int64_t) { return g.input(n, 3).valid(); }),
      // What the steps above and the older encodings cannot express.
      expansion<A>(
          19, Exactness::rounding, [](const A& a, Expand& e) { expand_resize(a, e); },
          [](const A& a, const Graph& g, NodeId n, int64_t target) {
            if (a.coordinate_transformation_mode == "half_pixel_symmetric")
              return target >= 11 || !resize_is_like_10(a, g, n);
            if (target < 18 && (a.antialias || a.axes || a.keep_aspect_ratio_policy != "stretch")) return true;
            return target < 11 &&
                   (g.input(n, 3).valid() || !resize_is_like_10(a, g, n) || (target < 10 && resize_shrinks(g, n)));
          }),
  };
};

constexpr OpRules table[] = {rules<Resize>()};

}  // namespace

std::span<const OpRules> resize_rules() { return table; }

}  // namespace cameo::ops
