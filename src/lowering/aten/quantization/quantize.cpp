// Quantization by numbers that the program holds: PyTorch 2's export quantization (quantized_decomposed) and fake
// quantization. QuantizeLinear and DequantizeLinear, the form that engines fuse; arithmetic where those cannot express
// it.
#include <limits>

#include "lowering/arithmetic.h"
#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

// How numbers and their grid belong together: one scale, one per place of an axis, or one per group along an axis.
struct Grid {
  V scale, zero;  // zero may be absent
  int64_t axis = -1, group = 0;
  DType dtype = DType::i8;
  int64_t lo = 0, hi = 0;
};

bool has_operator(DType t) { return t == DType::i8 || t == DType::u8 || t == DType::i16 || t == DType::u16; }

V zero_as(Lower& on, const Grid& g, DType t) { return g.zero.valid() ? on.to(g.zero, t) : V(); }

V quantized(Lower& on, V x, const Grid& g) {
  x = on.to(x, DType::f32);
  const V scale = on.to(g.scale, DType::f32), lo = on.number(static_cast<double>(g.lo), g.dtype),
          hi = on.number(static_cast<double>(g.hi), g.dtype);
  if (!has_operator(g.dtype)) {
    if (g.axis >= 0) unsupported(cat("quantization to ", name(g.dtype), " per channel"));
    V y = on.Round(on.Div(x, scale));
    if (g.zero.valid()) y = on.Add(y, on.to(g.zero, DType::f32));
    return on.Clip(on.to(on.Clip(y, on.number(static_cast<double>(g.lo), DType::f32),
                                 on.number(static_cast<double>(g.hi), DType::f32)),
                         g.dtype),
                   lo, hi);
  }
  op::QuantizeLinear attrs;
  if (g.axis >= 0) attrs.axis = g.axis, attrs.block_size = g.group;
  attrs.output_dtype = g.zero.valid() ? 0 : static_cast<int64_t>(g.dtype);
  const V y = on.QuantizeLinear(x, scale, zero_as(on, g, g.dtype), attrs);
  const auto [least, most] = g.dtype == DType::i8    ? std::pair(-128, 127)
                             : g.dtype == DType::u8  ? std::pair(0, 255)
                             : g.dtype == DType::i16 ? std::pair(-32768, 32767)
                                                     : std::pair(0, 65535);
  return g.lo <= least && g.hi >= most ? y : V(on.Clip(y, lo, hi));
}

V dequantized(Lower& on, V x, const Grid& g, DType out) {
  const V scale = on.to(g.scale, DType::f32);
  if (!has_operator(on.dtype(x))) {
    if (g.axis >= 0) unsupported(cat("dequantization of ", name(on.dtype(x)), " per channel"));
    V y = on.to(x, DType::f32);
    if (g.zero.valid()) y = on.Sub(y, on.to(g.zero, DType::f32));
    return on.to(on.Mul(y, scale), out);
  }
  op::DequantizeLinear attrs;
  if (g.axis >= 0) attrs.axis = g.axis, attrs.block_size = g.group;
  return on.to(on.DequantizeLinear(x, scale, zero_as(on, g, on.dtype(x)), attrs), out);
}

V one_number(Lower& on, V v) { return on.rank(v) == 0 ? v : on.reshape(v, {}); }

Grid grid(Lower& on, double scale, int64_t zero, int64_t lo, int64_t hi, DType t) {
  return {
      on.number(scale, DType::f32), on.to(on.On::int_scalar(zero), has_operator(t) ? t : DType::i64), -1, 0, t, lo, hi};
}
Grid grid(Lower& on, V scale, V zero, int64_t lo, int64_t hi, DType t) {
  return {one_number(on, scale), one_number(on, zero), -1, 0, t, lo, hi};
}
Grid channels(Lower& on, V x, V scales, const Opt<V>& zeros, int64_t axis, int64_t lo, int64_t hi, DType t) {
  return {scales, zeros ? *zeros : V(), on.axis(x, axis), 0, t, lo, hi};
}

// Groups of `size` along the last axis of a matrix; one group may be the whole row.
Grid groups(Lower& on, V x, V scales, const Opt<V>& zeros, int64_t lo, int64_t hi, DType t, int64_t size) {
  on.need_rank(x, 2, "quantization by groups");
  const int64_t rows = known_size(on, x, 0, "quantization by groups"),
                width = known_size(on, x, 1, "quantization by groups");
  if (size > width) size = width;
  if (size < 1 || width % size != 0) unsupported(cat("groups of ", size, " along an axis of ", width));
  const Dims shape{Dim(rows), Dim(width / size)};
  return {on.reshape(scales, shape), zeros ? on.reshape(*zeros, shape) : V(), 1, size, t, lo, hi};
}

int64_t number_of(Lower& on, V v, std::string_view what) {
  const Dim d = on.int_of(one_number(on, v));
  if (!d.is_literal()) unsupported(cat(what, " that is not constant"));
  return d.literal();
}

// One scale per row of the last axis: arithmetic in the type that PyTorch would promote to.
V by_token(Lower& on, V x, V scales, V zeros, int64_t lo, int64_t hi, DType t) {
  const DType wide = on.dtype(scales) == DType::f64 || on.dtype(x) == DType::f64 ? DType::f64 : DType::f32;
  const V steps = on.Div(on.number(1, wide), on.to(scales, wide));
  const V y = on.Round(on.Add(on.Mul(on.to(x, wide), steps), on.to(zeros, wide)));
  return on.to(on.Clip(y, on.number(static_cast<double>(lo), wide), on.number(static_cast<double>(hi), wide)), t);
}
V from_token(Lower& on, V x, V scales, V zeros, int64_t, int64_t, DType, DType out) {
  const DType wide = on.dtype(scales) == DType::f64 ? DType::f64 : DType::f32;
  return on.to(on.Mul(on.Sub(on.to(x, wide), on.to(zeros, wide)), on.to(scales, wide)), out);
}

// Scale and zero point of the whole tensor, by its range: one double and one int64.
std::tuple<V, V> chosen(Lower& on, V x, int64_t lo, int64_t hi, double eps, DType t, bool symmetric) {
  x = on.to(x, DType::f32);
  const V low = at_most(on, reduce(on, Reduce::min, x, on.all_axes(x), false), 0),
          high = at_least(on, reduce(on, Reduce::max, x, on.all_axes(x), false), 0);
  const double steps = static_cast<double>(hi - lo);
  const V widest = symmetric ? V(on.Max(std::vector<ValueId>{on.Neg(low), high})) : V(on.Sub(high, low));
  const V scale = at_least(on, on.Div(widest, on.number(symmetric ? steps / 2 : steps, DType::f32)), eps);
  V zero = on.number(symmetric && t == DType::u8 ? 128 : 0, DType::f32);
  if (!symmetric)
    zero = on.Clip(on.Sub(on.number(static_cast<double>(lo), DType::f32), on.Round(on.Div(low, scale))),
                   on.number(static_cast<double>(lo), DType::f32), on.number(static_cast<double>(hi), DType::f32));
  return {on.unsqueeze(on.to(scale, DType::f64), {0}), on.unsqueeze(on.to(zero, DType::i64), {0})};
}

std::tuple<V, V> chosen_by_token(Lower& on, V x, DType t) {
  if (t != DType::i8) unsupported(cat("choose_qparams_per_token for ", name(t)));
  if (on.dtype(x) == DType::f16) x = on.to(x, DType::f32);
  const V scale = on.Div(at_least(on, reduce(on, Reduce::max, on.Abs(x), {on.rank(x) - 1}, true), 1e-5),
                         on.number(127, on.dtype(x)));
  return {scale, on.Mul(scale, on.number(0, on.dtype(x)))};
}
std::tuple<V, V> chosen_by_token_asymmetric(Lower& on, V x, DType) {
  constexpr double lo = -128, hi = 127;
  const DType t = on.dtype(x);
  const Ints last{on.rank(x) - 1};
  const V low = at_most(on, reduce(on, Reduce::min, x, last, true), 0),
          high = at_least(on, reduce(on, Reduce::max, x, last, true), 0);
  const V scale = at_least(on, on.Div(on.Sub(high, low), on.number(hi - lo, t)), std::numeric_limits<float>::epsilon());
  const V down = on.Div(low, scale), up = on.Div(high, scale);
  const V errors = on.Add(on.Add(on.number(lo, t), down), on.Add(on.number(hi, t), up));
  const V zero =
      on.Where(on.Greater(errors, on.number(0, t)), on.Sub(on.number(lo, t), down), on.Sub(on.number(hi, t), up));
  return {on.to(scale, DType::f64), on.to(on.Round(on.Clip(zero, on.number(lo, t), on.number(hi, t))), DType::i64)};
}

// Fake quantization is on the grid of the smallest integers that hold its range.
DType grid_type(int64_t lo, int64_t hi) {
  if (lo >= 0) return hi <= 255 ? DType::u8 : hi <= 65535 ? DType::u16 : DType::i32;
  return lo >= -128 && hi <= 127 ? DType::i8 : lo >= -32768 && hi <= 32767 ? DType::i16 : DType::i32;
}
struct Placed {
  V scale, zero;
};
// Scale and zero point as numbers of a type, where they reach every element of x.
Placed placed(Lower& on, V x, const Grid& g, DType t) {
  const auto number = [&](V v) { return g.axis >= 0 ? reach(on, on.to(v, t), g.axis, on.rank(x)) : on.to(v, t); };
  return {number(g.scale), number(g.zero)};
}
V steps(Lower& on, V x, const Placed& at) { return on.Add(on.Round(on.Div(x, at.scale)), at.zero); }

// Rounds to the grid and back. Eight bits are QuantizeLinear and DequantizeLinear, which engines fuse at any opset;
// other grids are computed.
V faked(Lower& on, V x, const Grid& g) {
  const DType given = on.dtype(x), wide = given == DType::f64 ? DType::f64 : DType::f32;
  if (wide == DType::f32 && bits(g.dtype) == 8) return dequantized(on, quantized(on, x, g), g, given);
  const Placed at = placed(on, x, g, wide);
  const V y = on.Clip(steps(on, on.to(x, wide), at), on.number(static_cast<double>(g.lo), wide),
                      on.number(static_cast<double>(g.hi), wide));
  return on.to(on.Mul(on.Sub(y, at.zero), at.scale), given);
}
// Where the numbers were inside the range: used only in training.
V inside(Lower& on, V x, const Grid& g) {
  const V y = steps(on, on.to(x, DType::f32), placed(on, x, g, DType::f32));
  return on.And(on.GreaterOrEqual(y, on.number(static_cast<double>(g.lo), DType::f32)),
                on.LessOrEqual(y, on.number(static_cast<double>(g.hi), DType::f32)));
}

Grid fake_grid(Lower& on, double scale, int64_t zero, int64_t lo, int64_t hi) {
  return grid(on, scale, zero, lo, hi, grid_type(lo, hi));
}
Grid fake_grid(Lower& on, V scale, V zero, int64_t lo, int64_t hi) {
  return grid(on, scale, zero, lo, hi, grid_type(lo, hi));
}
Grid fake_channels(Lower& on, V x, V scales, V zeros, int64_t axis, int64_t lo, int64_t hi) {
  on.need_rank(x, 1, "quantization by channel");
  return channels(on, x, scales, Opt<V>(zeros), axis, lo, hi, grid_type(lo, hi));
}
// A learned zero point is a float: PyTorch rounds it, and keeps it between the limits.
V whole(Lower& on, V zero, int64_t lo, int64_t hi) {
  return on.to(clip(on, on.Round(zero), Num(static_cast<double>(lo)), Num(static_cast<double>(hi))), DType::i64);
}
std::tuple<V, V> faked_and_inside(Lower& on, V x, const Grid& g) { return {faked(on, x, g), inside(on, x, g)}; }

bool is_on(Lower& on, V flag, std::string_view what) {
  const auto known = on.graph().constant(flag);
  if (!known || known->count() != 1)
    throw error("lower.unsupported-value", cat("whether ", what, " is on depends on data"));
  return known->int_at(0) != 0;
}
// torch.ao.quantization's observer and fake quantizer in one. What it would observe changes its scale as it goes.
V observed(Lower& on, V x, V observer_on, V fake_on, V, V, V scale, V zero, double, int64_t low, int64_t high,
           int64_t axis, bool per_channel) {
  if (is_on(on, observer_on, "the observer"))
    throw error("lower.unsupported-value", "a fake quantizer whose observer is on")
        .why("it computes its scale anew from what it sees")
        .help("model.apply(torch.ao.quantization.disable_observer) before the export");
  if (!is_on(on, fake_on, "the fake quantizer")) return x;
  return faked(
      on, x, per_channel ? fake_channels(on, x, scale, zero, axis, low, high) : fake_grid(on, scale, zero, low, high));
}

constexpr Row table[] = {
    {"quantized_decomposed::quantize_per_tensor",
     [](Lower& on, V x, double scale, int64_t zero, int64_t lo, int64_t hi, DType t) {
       return quantized(on, x, grid(on, scale, zero, lo, hi, t));
     }},
    {"quantized_decomposed::quantize_per_tensor.tensor",
     [](Lower& on, V x, V scale, V zero, int64_t lo, int64_t hi, DType t) {
       return quantized(on, x, grid(on, scale, zero, lo, hi, t));
     }},
    {"quantized_decomposed::quantize_per_tensor.tensor2",
     [](Lower& on, V x, V scale, V zero, V lo, V hi, DType t) {
       return quantized(on, x,
                        grid(on, scale, zero, number_of(on, lo, "a bound of quantization"),
                             number_of(on, hi, "a bound of quantization"), t));
     }},
    {"quantized_decomposed::dequantize_per_tensor",
     [](Lower& on, V x, double scale, int64_t zero, int64_t lo, int64_t hi, DType t, Opt<DType> out) {
       return dequantized(on, x, grid(on, scale, zero, lo, hi, t), out.value_or(DType::f32));
     }},
    {"quantized_decomposed::dequantize_per_tensor.tensor",
     [](Lower& on, V x, V scale, V zero, int64_t lo, int64_t hi, DType t, Opt<DType> out) {
       return dequantized(on, x, grid(on, scale, zero, lo, hi, t), out.value_or(DType::f32));
     }},
    {"quantized_decomposed::dequantize_per_tensor.tensor2",
     [](Lower& on, V x, V scale, V zero, V, V, DType t, Opt<DType> out) {
       return dequantized(on, x, grid(on, scale, zero, 0, 0, t), out.value_or(DType::f32));
     }},
    {"quantized_decomposed::quantize_per_channel",
     [](Lower& on, V x, V scales, V zeros, int64_t axis, int64_t lo, int64_t hi, DType t) {
       return quantized(on, x, channels(on, x, scales, Opt<V>(zeros), axis, lo, hi, t));
     }},
    {"quantized_decomposed::dequantize_per_channel",
     [](Lower& on, V x, V scales, Opt<V> zeros, int64_t axis, int64_t lo, int64_t hi, DType t, Opt<DType> out) {
       return dequantized(on, x, channels(on, x, scales, zeros, axis, lo, hi, t), out.value_or(DType::f32));
     }},
    {"quantized_decomposed::quantize_per_channel_group",
     [](Lower& on, V x, V scales, V zeros, int64_t lo, int64_t hi, DType t, int64_t size) {
       return quantized(on, x, groups(on, x, scales, Opt<V>(zeros), lo, hi, t, size));
     }},
    {"quantized_decomposed::dequantize_per_channel_group",
     [](Lower& on, V x, V scales, Opt<V> zeros, int64_t lo, int64_t hi, DType t, int64_t size, DType out) {
       return dequantized(on, x, groups(on, x, scales, zeros, lo, hi, t, size), out);
     }},
    {"quantized_decomposed::quantize_per_token", fn<by_token>},
    {"quantized_decomposed::dequantize_per_token", fn<from_token>},
    {"quantized_decomposed::choose_qparams.tensor",
     [](Lower& on, V x, int64_t lo, int64_t hi, double eps, DType t) { return chosen(on, x, lo, hi, eps, t, false); }},
    {"quantized_decomposed::choose_qparams_symmetric.tensor",
     [](Lower& on, V x, int64_t lo, int64_t hi, double eps, DType t) { return chosen(on, x, lo, hi, eps, t, true); }},
    {"quantized_decomposed::choose_qparams_per_token", fn<chosen_by_token>},
    {"quantized_decomposed::choose_qparams_per_token_asymmetric", fn<chosen_by_token_asymmetric>},
    {"quantized_decomposed::_choose_qparams_per_token_asymmetric_impl", fn<chosen_by_token_asymmetric>},
    {"quantized_decomposed::convert_element_type.no_fuse", [](Lower& on, V x, DType t) { return on.to(x, t); }},
    {"quantized_decomposed::fake_quant_per_channel",
     [](Lower& on, V x, V scales, V zeros, int64_t axis, int64_t lo, int64_t hi) {
       return faked(on, x, fake_channels(on, x, scales, zeros, axis, lo, hi));
     }},
    {"aten::fake_quantize_per_tensor_affine",
     [](Lower& on, V x, double scale, int64_t zero, int64_t lo,
        int64_t hi) { return faked(on, x, fake_grid(on, scale, zero, lo, hi)); }},
    {"aten::fake_quantize_per_tensor_affine.tensor_qparams",
     [](Lower& on, V x, V scale, V zero, int64_t lo, int64_t hi) {
       return faked(on, x, fake_grid(on, scale, zero, lo, hi));
     }},
    {"aten::fake_quantize_per_channel_affine",
     [](Lower& on, V x, V scales, V zeros, int64_t axis, int64_t lo, int64_t hi) {
       return faked(on, x, fake_channels(on, x, scales, zeros, axis, lo, hi));
     }},
    {"aten::fake_quantize_per_tensor_affine_cachemask",
     [](Lower& on, V x, double scale, int64_t zero, int64_t lo, int64_t hi) {
       return faked_and_inside(on, x, fake_grid(on, scale, zero, lo, hi));
     }},
    {"aten::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams",
     [](Lower& on, V x, V scale, V zero, V, int64_t lo, int64_t hi) {
       return faked_and_inside(on, x, fake_grid(on, scale, zero, lo, hi));
     }},
    {"aten::fake_quantize_per_channel_affine_cachemask",
     [](Lower& on, V x, V scales, V zeros, int64_t axis, int64_t lo, int64_t hi) {
       return faked_and_inside(on, x, fake_channels(on, x, scales, zeros, axis, lo, hi));
     }},
    {"aten::_fake_quantize_learnable_per_tensor_affine",
     [](Lower& on, V x, V scale, V zero, int64_t lo, int64_t hi, double) {
       return faked(on, x, fake_grid(on, scale, whole(on, zero, lo, hi), lo, hi));
     }},
    {"aten::_fake_quantize_learnable_per_channel_affine",
     [](Lower& on, V x, V scales, V zeros, int64_t axis, int64_t lo, int64_t hi, double) {
       return faked(on, x, fake_channels(on, x, scales, whole(on, zeros, lo, hi), axis, lo, hi));
     }},
    {"aten::fused_moving_avg_obs_fake_quant", fn<observed>},
};

}  // namespace

std::span<const Row> quantization_rows() { return table; }

}  // namespace cameo::lowering
