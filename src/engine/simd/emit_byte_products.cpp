// ConvInteger, QLinearConv, MatMulInteger and QLinearMatMul with constant weights, where the processor has AVX-512
// VNNI.
#include <algorithm>

#include "engine/emit.h"
#include "engine/simd/byte_products.h"
#include "engine/simd/emitters.h"
#include "engine/windows.h"
#include "kernels/carrier.h"
#include "ops/generated/attributes.h"
#include "support/error.h"

namespace cameo::engine {

namespace {

// Constant weights, and what is left of their zero points once they are signed bytes.
struct Weights {
  Tensor bytes;
  int32_t shift = 0;
  std::vector<int32_t> zeros;  // one per channel
};

std::optional<Weights> constant_weights(Compiler& c, ValueId v, ValueId zero, int64_t channels) {
  if (!c.is_constant(v) || (zero && !c.is_constant(zero)) || !is_byte(c.desc(v)->dtype)) return std::nullopt;
  Weights w{*c.constant(v), c.desc(v)->dtype == DType::u8 ? 128 : 0, {}};
  w.zeros.assign(static_cast<size_t>(channels), -w.shift);
  if (!zero) return w;
  const Loaded<int64_t> z(*c.constant(zero));
  if (z.size() != 1 && z.size() != channels) return std::nullopt;
  for (size_t i = 0; i < w.zeros.size(); ++i)
    w.zeros[i] += static_cast<int32_t>(z[z.size() == 1 ? 0 : static_cast<int64_t>(i)]);
  return w;
}

// The image's zero point: a constant, or one byte of the image's type at run time.
bool zero_point_fits(Compiler& c, ValueId zero, DType image) {
  return constant_zero(c, zero) || (c.desc(zero)->count() == 1 && c.desc(zero)->dtype == image);
}

template <class A>
std::optional<ByteImages> images_of(const A& a, const Desc& x, const Desc& w) {
  const WindowAttrs attrs = window_attrs(a.auto_pad, a.strides, a.dilations, a.pads, false, x.rank() - 2);
  if (!attrs.problem.empty() || !fits_groups(x, w, a.group)) return std::nullopt;
  const Windows win = make_windows(attrs, {x.dims.begin() + 2, x.dims.end()}, {w.dims.begin() + 2, w.dims.end()});
  if (!win.problem.empty() || win.rank() < 1 || win.rank() > 3 || far_from_image(win)) return std::nullopt;
  ByteImages s;
  s.images = x.dims[0], s.groups = a.group, s.in_channels = w.dims[1], s.out_channels = w.dims[0] / a.group;
  for (size_t i = 0, to = 3 - win.rank(); i < win.rank(); ++i, ++to) {
    if (win.begin[i] < 0 || win.out[i] < 1) return std::nullopt;
    s.in[to] = win.in[i], s.out[to] = win.out[i], s.kernel[to] = win.kernel[i], s.strides[to] = win.strides[i];
    s.dilations[to] = win.dilations[i], s.begin[to] = win.begin[i];
  }
  return s;
}

// Few channels in a group leave most of a register unused, but for one channel with its own weights.
bool is_worth_it(const ByteImages& s) {
  return s.groups == 1 || s.out_channels >= 8 || (s.is_depthwise() && s.groups >= 16);
}

// Packed once for all plans.
SlotId packed_weights(Compiler& c, ValueId v, const ByteProduct& p, const Weights& w, int64_t channel_step,
                      int64_t step) {
  const auto make = [&] {
    const Bytes out = c.store().allocate(p.weights.bytes);
    pack_byte_weights(p.size, p.weights, {w.bytes.bytes().data(), w.shift, channel_step, step}, writable(out));
    return out;
  };
  const std::string key =
      c.key(v, cat("vnni", p.size.groups, p.weights.zeros.empty() || p.size.is_depthwise() ? "" : "z",
                   step == 1 ? "c" : "m", p.size.dilations[2] == 1 ? "" : "d"));
  const Tensor packed(DType::i8, {narrow<int64_t>(p.weights.bytes)}, key.empty() ? make() : c.store().get(key, make));
  return c.add_constant(packed, {DType::i8, packed.shape(), nullptr});
}

bool is_channels_last(const Desc& d) { return !d.plain() && d.dense() && Physical(d).order.back() == 1; }

// The step, and the value that it gives.
void finish(Compiler& c, NodeId n, ByteProduct p, std::vector<SlotId> operands, ValueId zero, ValueId y,
            const Desc& out) {
  if (!p.zero) operands.push_back(c.plain(zero));
  const SlotId slot = c.make(out);
  const std::string label = cat(c.graph()[n].op->name, p.result == ByteResult::floats ? "+Cast" : "");
  c.step(n, label, make_byte_product(std::move(p)), std::move(operands), {slot});
  c.bind(y, slot);
}

// A Cast to f32 that alone reads the sums, as quantize_dynamic writes it.
NodeId cast_after(Compiler& c, ValueId sums) {
  const NodeId user = c.only_user(sums);
  const bool is_cast = user && c.graph()[user].is("Cast") && c.is_f32(c.graph()[user].outputs[0]);
  return is_cast ? user : NodeId();
}

// Where the sums go: as they are, or as floats if that is all that is wanted of them.
ValueId take_sums(Compiler& c, ValueId y, ByteProduct& p) {
  const NodeId cast = cast_after(c, y);
  p.result = cast ? ByteResult::floats : ByteResult::sums;
  p.out = cast ? DType::f32 : DType::i32;
  if (!cast) return y;
  c.absorb(cast);
  return c.graph()[cast].outputs[0];
}

}  // namespace

bool emit_vnni_conv(Compiler& c, NodeId n) {
  const Node& node = c.graph()[n];
  const auto* q = node.as<op::QLinearConv>();
  const auto* a = node.as<op::ConvInteger>();
  if (!q && !a) return false;
  const ValueId x = node.inputs[0], w = node.inputs[q ? 3 : 1], x_zero = input_of(node, 2);
  const Desc &xd = *c.desc(x), &wd = *c.desc(w), &yd = *c.desc(node.outputs[0]);
  if (!is_byte(xd.dtype) || xd.rank() < 3 || wd.rank() != xd.rank() || xd.count() == 0 || wd.count() == 0 ||
      yd.count() == 0)
    return false;
  const auto size = q ? images_of(*q, xd, wd) : images_of(*a, xd, wd);
  if (!size || !is_worth_it(*size) || size->depth() > deepest_sum) return false;
  const auto weights = constant_weights(c, w, input_of(node, q ? 5 : 3), wd.dims[0]);
  const auto finished = q ? conv_result(c, node, wd.dims[0]) : std::optional(Requantize{});
  if (!weights || !finished || !zero_point_fits(c, x_zero, xd.dtype) || (q && !is_byte(yd.dtype))) return false;
  ByteProduct p(*size, weights->zeros);
  p.finish = *finished, p.is_signed = xd.dtype == DType::i8, p.zero = constant_zero(c, x_zero);
  p.channels_last = is_channels_last(c.slot_desc(c.slot(x)));
  std::vector<SlotId> in{p.channels_last ? c.slot(x) : c.plain(x), packed_weights(c, w, p, *weights, size->depth(), 1)};
  ValueId y = node.outputs[0];
  if (q) p.result = ByteResult::bytes, p.out = yd.dtype;
  else y = take_sums(c, y, p);
  Desc out{p.out, yd.dims, nullptr};
  if (q && !c.wanted(y)) {
    std::vector<size_t> order{0};
    for (size_t i = 2; i < yd.rank(); ++i) order.push_back(i);
    order.push_back(1);
    out = dense_desc(p.out, yd.dims, order);
  }
  p.out_last = !out.plain();
  finish(c, n, std::move(p), std::move(in), x_zero, y, out);
  return true;
}

bool emit_vnni_product(Compiler& c, NodeId n) {
  const Node& node = c.graph()[n];
  const bool q = node.is("QLinearMatMul");
  const ValueId x = node.inputs[0], w = node.inputs[q ? 3 : 1], x_zero = input_of(node, 2);
  const Desc &xd = *c.desc(x), &wd = *c.desc(w), &yd = *c.desc(node.outputs[0]);
  if (!is_byte(xd.dtype) || xd.rank() < 2 || wd.rank() != 2 || xd.count() == 0 || wd.count() == 0 ||
      xd.dims.back() != wd.dims[0] || wd.dims[0] > deepest_sum)
    return false;
  const int64_t depth = wd.dims[0], columns = wd.dims[1];
  const auto weights = constant_weights(c, w, input_of(node, q ? 5 : 3), columns);
  const auto finished = q ? product_result(c, node, columns) : std::optional(Requantize{});
  if (!weights || !finished || !zero_point_fits(c, x_zero, xd.dtype) || (q && !is_byte(yd.dtype))) return false;
  ByteImages size;
  size.in_channels = depth, size.out_channels = columns;
  size.in[2] = size.out[2] = xd.count() / depth;
  ByteProduct p(size, weights->zeros);
  p.finish = *finished, p.is_signed = xd.dtype == DType::i8, p.zero = constant_zero(c, x_zero);
  p.channels_last = p.out_last = true;
  std::vector<SlotId> in{c.plain(x), packed_weights(c, w, p, *weights, 1, columns)};
  ValueId y = node.outputs[0];
  if (q) p.result = ByteResult::product_bytes, p.out = yd.dtype;
  else y = take_sums(c, y, p);
  const Desc out{p.out, yd.dims, nullptr};
  finish(c, n, std::move(p), std::move(in), x_zero, y, out);
  return true;
}

}  // namespace cameo::engine
