#include <algorithm>
#include <cmath>

#include "ops/op_def.h"
#include "ops/preconditions.h"
#include "ops/quant/dynamic_range.h"
#include "ops/quant/scale.h"

namespace cameo::ops {

namespace {

// The rounding that a type of this precision does.
float through(DType t, float v) {
  return t == DType::f16 || t == DType::bf16 ? decode_float(t, encode_float(t, static_cast<double>(v))) : v;
}

struct QuantizeLinear : Rules<op::QuantizeLinear> {
  using A = op::QuantizeLinear;

  static DType result_type(const A& a, DType zero_point) {
    if (zero_point != DType::undefined) return zero_point;
    const auto t = a.output_dtype ? dtype_from_number(a.output_dtype) : DType::u8;
    return t ? *t : DType::undefined;
  }

  static void infer(const A& a, Infer& c) {
    infer_scale(c, a.axis, a.block_size);
    const DType t = result_type(a, c.has(2) ? c.dtype(2) : DType::undefined);
    if (t == DType::undefined) c.fail("infer.attribute", cat("output_dtype ", a.output_dtype, " is unknown"));
    if (a.output_dtype && c.has(2) && c.dtype(2) != DType::undefined && static_cast<int64_t>(t) != a.output_dtype)
      c.fail("infer.type", cat("output_dtype is ", a.output_dtype, ", the zero point's type ", name(t)));
    want_output_type(c, 0, t);
    c.out(0, t, c.shape(0));
  }

  static void eval(const A& a, Eval& k) {
    const Tensor& x = k.in(0);
    const DType t = result_type(a, k.has(2) ? k.in(2).dtype() : DType::undefined);
    if (t == DType::undefined) k.fail("eval.attribute", cat("output_dtype ", a.output_dtype, " is unknown"));
    const ScaleMap map = scale_map(k, x, k.in(1), a.axis, a.block_size);
    if (k.has(2) && k.in(2).count() != k.in(1).count()) k.fail("eval.shape", "scale and zero point differ in shape");
    const DType precision = a.precision ? dtype_from_number(a.precision).value_or(DType::f32) : k.in(1).dtype();
    const Loaded<float> v(x), scale(k.in(1)), zero(k.has(2) ? k.in(2) : full(DType::f32, {1}, 0));
    std::vector<float> y(static_cast<size_t>(x.count()));
    const bool whole = is_int(t);
    const auto lo = static_cast<float>(whole ? lowest_of(t) : 0), hi = static_cast<float>(whole ? highest_of(t) : 0);
    for (int64_t i = 0; i < x.count(); ++i) {
      const int64_t s = map.at(i);
      const float q = through(precision, v[i] / scale[s]), z = zero[zero.size() == 1 ? 0 : s];
      if (!whole) y[static_cast<size_t>(i)] = q + z;
      else y[static_cast<size_t>(i)] = std::isnan(q) ? lo : std::clamp(std::nearbyint(q) + z, lo, hi);
    }
    k.out(0, store(t, x.shape(), y, a.saturate ? Overflow::saturate : Overflow::to_inf_or_nan));
  }

  static void expand(const A& a, Expand& e) {
    On& on = e.on;
    const DType t = result_type(a, e.has(2) ? e.dtype(2) : DType::undefined);
    if (!is_int(t)) return e.refuse(cat("quantization to ", name(t), " is beyond older operators"));
    const ValueId scale = spread_scale(e, e.in(1), a.axis, a.block_size);
    if (!scale) return;
    ValueId y = on.Round(on.Div(on.cast(e.in(0), DType::f32), on.cast(scale, DType::f32)));
    if (e.has(2)) {
      const ValueId zero = spread_scale(e, e.in(2), a.axis, a.block_size);
      if (!zero) return;
      y = on.Add(y, on.cast(zero, DType::f32));
    }
    const ValueId lo = on.number(lowest_of(t), DType::f32), hi = on.number(highest_of(t), DType::f32);
    e.replace({on.cast(on.Clip(y, lo, hi), t)});
  }

  // Before 21 only the zero point could say the type.
  static void type_by_zero_point(const A& a, Expand& e) {
    const auto shape = e.fact(1).has_rank() ? known_shape(e.fact(1).shape()) : std::nullopt;
    if (!shape) return e.refuse("the scale's shape is unknown");
    A plain = a;
    plain.output_dtype = 0;
    e.replace(
        {e.on.QuantizeLinear(e.in(0), e.in(1), e.on.constant(zeros(result_type(a, DType::undefined), *shape)), plain)});
  }

  static constexpr Revision revisions[] = {
      {13, nullptr, [](Downgrade& d) { d.drop("axis"); }},
      {19, nullptr, [](Downgrade& d) { d.drop_default("saturate", int64_t{1}); }},
      {21, nullptr,
       [](Downgrade& d) {
         d.drop("output_dtype");
         d.drop_default("block_size", int64_t{0});
       }},
      {23, nullptr, [](Downgrade& d) { d.drop_default("precision", int64_t{0}); }},
  };
  static constexpr Expansion expansions[] = {
      expansion<A>(
          21, Exactness::rounding, [](const A& a, Expand& e) { expand(a, e); },
          [](const A& a, const Graph& g, NodeId n, int64_t target) {
            const DType t = g[g[n].outputs[0]].fact.dtype();
            return a.block_size != 0 || t == DType::i16 || t == DType::u16 ||
                   (target < 13 && !is_one_scale(g, g.input(n, 1)));
          }),
      expansion<A>(
          21, Exactness::exact, [](const A& a, Expand& e) { type_by_zero_point(a, e); },
          [](const A& a, const Graph& g, NodeId n, int64_t) { return a.output_dtype != 0 && !g.input(n, 2); }),
      expansion<A>(10, Exactness::rounding, [](const A& a, Expand& e) { expand(a, e); }),
  };
};

struct DequantizeLinear : Rules<op::DequantizeLinear> {
  using A = op::DequantizeLinear;

  static DType result_type(const A& a, DType scale) {
    const auto t = a.output_dtype ? dtype_from_number(a.output_dtype) : std::nullopt;
    return t ? *t : scale == DType::f8e8m0 ? DType::f32 : scale;
  }

  static void infer(const A& a, Infer& c) {
    infer_scale(c, a.axis, a.block_size);
    want_output_type(c, 0, result_type(a, c.dtype(1)));
    c.out(0, result_type(a, c.dtype(1)), c.shape(0));
  }

  static void eval(const A& a, Eval& k) {
    const Tensor& x = k.in(0);
    const ScaleMap map = scale_map(k, x, k.in(1), a.axis, a.block_size);
    if (k.has(2) && k.in(2).count() != k.in(1).count()) k.fail("eval.shape", "scale and zero point differ in shape");
    const Loaded<double> v(x), zero(k.has(2) ? k.in(2) : full(DType::f32, {1}, 0));
    const Loaded<float> scale(k.in(1));
    std::vector<float> y(static_cast<size_t>(x.count()));
    for (int64_t i = 0; i < x.count(); ++i) {
      const int64_t s = map.at(i);
      y[static_cast<size_t>(i)] = static_cast<float>(v[i] - zero[zero.size() == 1 ? 0 : s]) * scale[s];
    }
    k.out(0, store(result_type(a, k.in(1).dtype()), x.shape(), y));
  }

  static void expand(const A& a, Expand& e) {
    On& on = e.on;
    const ValueId scale = spread_scale(e, e.in(1), a.axis, a.block_size);
    if (!scale) return;
    ValueId y = on.cast(e.in(0), DType::f32);
    if (e.has(2)) {
      const ValueId zero = spread_scale(e, e.in(2), a.axis, a.block_size);
      if (!zero) return;
      y = on.Sub(y, on.cast(zero, DType::f32));
    }
    e.replace({on.cast(on.Mul(y, on.cast(scale, DType::f32)), result_type(a, e.dtype(1)))});
  }

  // The opset from which on elements of that type can be dequantized.
  static int64_t first_opset(DType t) {
    if (is_int(t) && bits(t) >= 8) return 10;  // 16 bits are widened to 32
    if (t == DType::f6e2m3 || t == DType::f6e3m2) return 28;
    if (t == DType::i2 || t == DType::u2) return 25;
    if (t == DType::f4e2m1) return 23;
    return is_float(t) ? 19 : 21;  // 8 or 4 bits
  }

  // Constants of younger types, as weights are: the same numbers in an older type.
  static void with_older_constants(const A& a, Expand& e) {
    On& on = e.on;
    const auto x = e.graph.constant(e.in(0));
    const auto zero = e.has(2) ? e.graph.constant(e.in(2)) : std::nullopt;
    if (!x || (e.has(2) && !zero))
      return e.refuse(cat(name(e.dtype(0)), " came later, and the tensor is not a constant"));
    const DType given = x->dtype();
    const DType t = is_float(given) ? DType::f32 : is_signed_int(given) ? DType::i8 : DType::u8;
    const ValueId older = on.constant(convert(*x, t)), older_zero = zero ? on.constant(convert(*zero, t)) : ValueId();
    if (t != DType::f32) return e.replace({on.DequantizeLinear(older, e.in(1), older_zero, a)});
    const ValueId scale = spread_scale(e, on.cast(e.in(1), DType::f32), a.axis, a.block_size);
    const ValueId spread_zero = zero ? spread_scale(e, older_zero, a.axis, a.block_size) : ValueId();
    if (!scale || (zero && !spread_zero)) return;
    const ValueId centred = zero ? on.Sub(older, spread_zero) : older;
    e.replace({on.cast(on.Mul(centred, scale), result_type(a, e.dtype(1)))});
  }

  static constexpr Revision revisions[] = {
      {13, nullptr, [](Downgrade& d) { d.drop("axis"); }},
      {21, nullptr, [](Downgrade& d) { d.drop_default("block_size", int64_t{0}); }},
      {23, nullptr, [](Downgrade& d) { d.drop("output_dtype"); }},
  };
  static constexpr Expansion expansions[] = {
      expansion<A>(
          28, Exactness::exact, [](const A& a, Expand& e) { with_older_constants(a, e); },
          [](const A&, const Graph& g, NodeId n, int64_t target) {
            const DType t = g[g.input(n, 0)].fact.dtype();
            return t != DType::undefined && target >= 10 && target < first_opset(t);
          }),
      expansion<A>(
          10, Exactness::exact, [](const A& a, Expand& e) { with_older_constants(a, e); },
          [](const A&, const Graph& g, NodeId n, int64_t) {
            const DType t = g[g.input(n, 0)].fact.dtype();
            return is_sub_byte(t) || is_float(t);
          }),
      expansion<A>(
          23, Exactness::rounding, [](const A& a, Expand& e) { expand(a, e); },
          [](const A& a, const Graph& g, NodeId n, int64_t target) {
            const bool retyped =
                a.output_dtype != 0 && dtype_from_number(a.output_dtype) != g[g.input(n, 1)].fact.dtype();
            return retyped || (target < 21 && a.block_size != 0) || (target < 13 && !is_one_scale(g, g.input(n, 1)));
          }),
      expansion<A>(10, Exactness::rounding, [](const A& a, Expand& e) { expand(a, e); }),
  };
};

struct DynamicQuantizeLinear : Rules<op::DynamicQuantizeLinear> {
  using A = op::DynamicQuantizeLinear;
  static void infer(const A&, Infer& c) {
    c.out(0, DType::u8, c.shape(0));
    c.out(1, DType::f32, {});
    c.out(2, DType::u8, {});
  }

  static void eval(const A&, Eval& k) {
    const Loaded<float> x(k.in(0));
    const DynamicRange range(x.span());
    std::vector<float> y;
    for (const float v : x.span()) y.push_back(range.level(v));
    k.out(0, store(DType::u8, k.in(0).shape(), y));
    k.out(1, Tensor::float_scalar(range.scale));
    k.out(2, store(DType::u8, {}, std::vector<float>{range.zero}));
  }

  static void expand(const A&, Expand& e) {
    On& on = e.on;
    const ValueId x = e.in(0), none = on.number(0, DType::f32), all = on.number(255, DType::f32);
    const auto extreme = [&](bool largest) {
      const ValueId v = largest ? on.ReduceMax(x, {}, {.keepdims = 0}) : on.ReduceMin(x, {}, {.keepdims = 0});
      const ValueId both[] = {v, none};
      return largest ? on.Max(both) : on.Min(both);
    };
    const ValueId top = extreme(true), bottom = extreme(false);
    const ValueId range = on.Sub(top, bottom);
    // A tensor of zeros has no range: any positive scale does.
    const ValueId safe = on.Where(on.Greater(range, none), range, all);
    const ValueId scale = on.Div(safe, all);
    const ValueId zero = on.Round(on.Clip(on.Sub(none, on.Div(bottom, scale)), none, all));
    const ValueId y = on.Clip(on.Add(on.Round(on.Div(x, scale)), zero), none, all);
    const ValueId quantized = on.cast(y, DType::u8);
    e.replace({quantized, scale, on.cast(zero, DType::u8)});
  }

  static constexpr Expansion expansions[] = {
      expansion<A>(11, Exactness::rounding, [](const A& a, Expand& e) { expand(a, e); })};
};

constexpr OpRules table[] = {rules<QuantizeLinear>(), rules<DequantizeLinear>(), rules<DynamicQuantizeLinear>()};

}  // namespace

std::span<const OpRules> quantize_rules() { return table; }

}  // namespace cameo::ops
