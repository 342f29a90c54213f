// Convolutions and pools.
#include "ops/linger/window.h"
#include "ops/nn/window.h"
#include "passes/linger/rewrite.h"

namespace cameo::passes::linger {

namespace {

template <class A>
Results conv(Rewrite& r) {
  const ValueId x = r.real(0), w = r.real(1), b = r.has(2) ? r.real(2) : ValueId();
  return {r.quantised(r.on.Conv(x, w, b, ops::linger::window_of<op::Conv>(r.attrs<A>())))};
}
template <class A>
Results conv_transpose(Rewrite& r) {
  const ValueId x = r.real(0), w = r.real(1), b = r.has(2) ? r.real(2) : ValueId();
  return {r.quantised(r.on.ConvTranspose(x, w, b, ops::linger::window_of<op::ConvTranspose>(r.attrs<A>())))};
}

bool is_power_of_two(int64_t v) { return v > 0 && (v & (v - 1)) == 0; }

// A mean whose divisor is no power of two is rounded on the input's scale first.
ValueId mean_on_input(Rewrite& r, ValueId mean, bool by_shift) {
  const auto x = ops::linger::operand_grid(r.self(), 0), o = ops::linger::result_grid(r.self(), 0);
  if (by_shift || (x->scale == o->scale && !r.exact())) return mean;
  return r.dequantised(r.on_grid(mean, *x), x->scale);
}

// How far the last windows reach beyond the padded input, where that counts as padding.
template <class A>
std::vector<int64_t> overhang(Rewrite& r, const A& a) {
  const size_t n = a.kernel_shape.size();
  std::vector<int64_t> out(n, 0);
  const Fact &x = r.fact(r.in(0)), &y = r.fact(r.self().outputs[0]);
  for (size_t i = 0; i < n; ++i) {
    const auto in = x.has_rank() ? x.shape()[i + 2].known() : std::nullopt;
    const auto windows = y.has_rank() ? y.shape()[i + 2].known() : std::nullopt;
    if (!in || !windows) r.refuse("ceil_mode with sizes that are not known");
    const int64_t end = (*windows - 1) * a.strides[i] + a.kernel_shape[i];
    out[i] = std::max<int64_t>(0, end - (*in + a.pads[i] + a.pads[i + n]));
  }
  return out;
}

template <class A>
Results average(Rewrite& r) {
  const A& a = r.attrs<A>();
  const size_t n = a.kernel_shape.size();
  const int64_t area = ops::product(a.kernel_shape), override_by = a.divisor_override.value_or(-1);
  const bool with_padding = a.count_include_pad.value_or(1) != 0 || override_by > 0;
  op::AveragePool how;
  how.kernel_shape = a.kernel_shape;
  how.strides = a.strides;
  how.pads = a.pads;
  how.count_include_pad = with_padding;
  how.ceil_mode = with_padding ? 0 : a.ceil_mode.value_or(0);
  if (with_padding && a.ceil_mode.value_or(0)) {
    const auto more = overhang(r, a);
    for (size_t i = 0; i < n; ++i) (*how.pads)[i + n] += more[i];
  }
  ValueId y = r.on.AveragePool(r.real(0), how);
  if (override_by > 0 && override_by != area)
    y = r.on.Mul(y, r.on.number(static_cast<double>(area) / static_cast<double>(override_by), DType::f32));
  const bool padded = std::any_of(a.pads.begin(), a.pads.end(), [](int64_t p) { return p != 0; });
  const bool one_divisor = with_padding || (!padded && !a.ceil_mode.value_or(0));
  return {r.quantised(mean_on_input(r, y, one_divisor && is_power_of_two(override_by > 0 ? override_by : area)))};
}

Results global_average(Rewrite& r) {
  const Fact& x = r.fact(r.in(0));
  const auto height = x.has_rank() ? x.shape()[2].known() : std::nullopt;
  const auto width = x.has_rank() ? x.shape()[3].known() : std::nullopt;
  const bool by_shift = height && width && is_power_of_two(*height * *width);
  return {r.quantised(mean_on_input(r, r.on.GlobalAveragePool(r.real(0)), by_shift))};
}

constexpr Row rows[] = {
    {"QConv1d", conv<op::linger::QConv1d>},
    {"QConv2d", conv<op::linger::QConv2d>},
    {"QConvTranspose1d", conv_transpose<op::linger::QConvTranspose1d>},
    {"QConvTranspose2d", conv_transpose<op::linger::QConvTranspose2d>},
    {"QAvgPool1d", average<op::linger::QAvgPool1d>},
    {"QAvgPool2d", average<op::linger::QAvgPool2d>},
    {"QGlobalAveragePool2d", global_average},
};

}  // namespace

std::span<const Row> window_rows() { return rows; }

}  // namespace cameo::passes::linger
