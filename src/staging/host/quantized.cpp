// Operators on quantized tensors: the float operator, and its result rounded to the output's grid.
#include <algorithm>

#include "staging/host/tables.h"
#include "staging/machine/quantized.h"

namespace cameo::staging {

namespace {

bool on_tensor(const HostCall& c) { return c.size() > 0 && c[0].is<TensorRef>(); }
V value(HostCall& c, size_t i = 0) { return c.s.read(c[i].need<TensorRef>()); }
bool known_true(const Value& v) { return v.is<bool>() && v.need<bool>(); }

DType grid_dtype(HostCall& c, const Value& like) {
  const auto* t = like.as<TensorRef>();
  const auto* q = t ? c.s.quantization(c.s.read(*t)) : nullptr;
  return q ? q->dtype : DType::u8;
}
// `y` on the grid of the call's scale and zero point, which stand at `at`.
Results finish(HostCall& c, Value y, size_t at, bool relu = false, DType dtype = DType::u8) {
  if (y.is<Poison>()) return one(y);
  if (relu) y = plain(c, "relu", {y});
  if (at + 1 >= c.size() || c[at].is_none()) return one(y);
  return one(c.s.tensor(quantized(c.s, c.s.read(y.need<TensorRef>()), c[at], c[at + 1], dtype)));
}

Results quantize_per_tensor(HostCall& c) {
  if (!on_tensor(c) || c.size() < 4) return std::nullopt;
  const auto dtype = dtype_from_torch(c.s.known_int(c[3]));
  const int64_t code = c.s.known_int(c[3]);
  const DType t = code == 12 ? DType::i8 : code == 13 ? DType::u8 : code == 14 ? DType::i32 : dtype.value_or(DType::u8);
  return one(c.s.tensor(quantized(c.s, value(c), c[1], c[2], t)));
}
Results quantize_per_channel(HostCall& c) {
  if (!on_tensor(c) || c.size() < 5) return std::nullopt;
  Quantization q;
  q.dtype = c.s.int_from(c[4]).is(12) ? DType::i8 : DType::u8;
  q.axis = c.s.on.axis(value(c), c.s.known_int(c[3]));
  q.scale = c.s.on.to(value(c, 1), DType::f32);
  q.zero_point = c.s.on.to(value(c, 2), q.dtype);
  return one(c.s.tensor(quantized(c.s, value(c), q)));
}
Results dequantize(HostCall& c) {
  if (c.size() && (c[0].is<ListRef>() || c[0].is<Tuple>())) {
    std::vector<Value> parts;
    for (const Value& v : std::vector<Value>(c.s.items(c[0])))
      parts.push_back(c.s.call_op("aten", "dequantize", {{v}, {}})[0]);
    return one(c[0].is<Tuple>() ? Value::tuple(std::move(parts)) : c.s.list(std::move(parts)));
  }
  if (!on_tensor(c)) return std::nullopt;
  const V x = value(c);
  const Quantization* q = c.s.quantization(x);
  if (!q) return one(c[0]);
  // Another value, for this one stays quantized.
  return one(c.s.tensor(c.s.copy_of(x, c.s.on.region())));
}
Results int_repr(HostCall& c) {
  const Quantization* q = on_tensor(c) ? c.s.quantization(value(c)) : nullptr;
  if (!q) return std::nullopt;
  if (q->ints.valid()) return one(c.s.tensor(q->ints));
  const V again = quantized(c.s, value(c), *q);
  return one(c.s.tensor(c.s.quantization(again)->ints));
}
Results scale_of(HostCall& c) {
  const Quantization* q = on_tensor(c) ? c.s.quantization(value(c)) : nullptr;
  return q ? one(c.s.float_from(c.s.tensor(q->scale))) : std::nullopt;
}
Results zero_point_of(HostCall& c) {
  const Quantization* q = on_tensor(c) ? c.s.quantization(value(c)) : nullptr;
  return q ? one(c.s.int_from(c.s.tensor(c.s.on.to(q->zero_point, DType::i64)))) : std::nullopt;
}
Results is_quantized(HostCall& c) { return on_tensor(c) ? one(c.s.quantization(value(c)) != nullptr) : std::nullopt; }
Results dtype_of(HostCall& c) {
  const Quantization* q = on_tensor(c) ? c.s.quantization(value(c)) : nullptr;
  return q ? one(Dim(q->dtype == DType::i8 ? 12 : q->dtype == DType::u8 ? 13 : 14)) : std::nullopt;
}

std::vector<Value> ints_of(HostCall& c, size_t i) {
  return c[i].is<Dim>() ? std::vector<Value>{c[i]} : c.s.items(c[i]);
}
Results linear_prepack(HostCall& c) {
  Packed p;
  p.weight = c[0];
  p.bias = c.size() > 1 ? c[1] : Value();
  return one(make_packed(c.s, std::move(p)));
}
template <bool Transposed>
Results conv_prepack(HostCall& c) {
  if (c.size() < 6) return std::nullopt;
  Packed p;
  p.weight = c[0];
  p.bias = c[1];
  p.stride = ints_of(c, 2);
  p.padding = ints_of(c, 3);
  p.transposed = Transposed;
  if (Transposed) p.output_padding = ints_of(c, 4);
  p.dilation = ints_of(c, 4 + Transposed);
  p.groups = c.s.int_from(c[5 + Transposed]);
  return one(make_packed(c.s, std::move(p)));
}
Results unpack(HostCall& c) {
  const Packed p = packed(c.s, c[0]);
  return std::vector<Value>{p.weight, p.bias};
}

// Rows of a table that is quantized by rows: the ints are picked first, so that the table itself stays as it is.
Value picked_rows(HostCall& c, const Value& at) {
  const V table = packed_table(c.s, c[0]);
  const Quantization q = *c.s.quantization(table);
  const V rows = c.s.read(at.need<TensorRef>());
  auto& on = c.s.on;
  const V ints = on.Gather(q.ints, rows, {.axis = 0});
  const V zero = on.Gather(on.unsqueeze(q.zero_point, {1}), rows, {.axis = 0});
  const V scale = on.Gather(on.unsqueeze(q.scale, {1}), rows, {.axis = 0});
  return c.s.tensor(on.Mul(on.Sub(on.to(ints, DType::f32), zero), scale));
}
Results embedding_rows(HostCall& c) {
  if (c.size() < 2 || !c[1].is<TensorRef>()) return std::nullopt;
  return one(picked_rows(c, c[1]));
}
// Sums of rows: those that are needed make a table of their own, of which every row is used once.
Results embedding_sums(HostCall& c) {
  if (c.size() < 2 || !c[1].is<TensorRef>()) return std::nullopt;
  if (c.size() > 7 && !c[7].is_none())
    c.s.fail("stage.native-class", "a quantized embedding with pruned rows is not supported");
  const Value flat = plain(c, "reshape", {c[1], c.s.list({Dim(-1)})});
  const Value count = plain(c, "size", {flat, Dim(0)});
  const Value places = plain(c, "view_as", {plain(c, "arange", {count}), c[1]});
  const Value offsets = c.size() > 2 && !c[2].is_none() ? c[2] : places;
  const Value weights = c.size() > 6 ? c[6] : Value();
  const Value last = c.size() > 8 ? c[8] : Value(false);
  return one(plain(c, "embedding_bag", {picked_rows(c, flat), places, offsets, false, Dim(0), false, weights, last}));
}

enum class Input : uint8_t { quantized, by_range, as_is };
template <Input In, bool Relu>
Results linear(HostCall& c) {
  if (!on_tensor(c) || c.size() < 2) return std::nullopt;
  const Packed p = packed(c.s, c[1]);
  const Value x =
      In == Input::by_range ? c.s.tensor(quantized_by_range(c.s, value(c), c.size() > 2 && known_true(c[2]))) : c[0];
  return finish(c, plain(c, "linear", {x, p.weight, p.bias}), In == Input::quantized ? 2 : c.size(), Relu);
}
Value convolution(HostCall& c, const Value& x, const Packed& p) {
  const size_t d = p.stride.size();
  Value weight = p.weight;
  // One axis more than the data: a 1-d convolution packed as a 2-d one.
  const auto* xt = x.as<TensorRef>();
  const bool flat = xt && c.s.on.rank(c.s.read(*xt)) == static_cast<int64_t>(d) + 1;
  const Value input = flat ? plain(c, "unsqueeze", {x, Dim(2)}) : x;
  const auto list = [&](const std::vector<Value>& v) { return c.s.list(v); };
  std::vector<Value> output_padding = p.output_padding.empty() ? std::vector<Value>(d, Dim(0)) : p.output_padding;
  const Value y = plain(c, "_convolution",
                        {input, weight, p.bias, list(p.stride), list(p.padding), list(p.dilation), p.transposed,
                         list(output_padding), p.groups, false, false, false, false});
  return flat ? plain(c, "squeeze", {y, Dim(2)}) : y;
}
template <Input In, bool Relu>
Results convolve(HostCall& c) {
  if (!on_tensor(c) || c.size() < 2) return std::nullopt;
  const Packed p = packed(c.s, c[1]);
  const Value x =
      In == Input::by_range ? c.s.tensor(quantized_by_range(c.s, value(c), c.size() > 2 && known_true(c[2]))) : c[0];
  return finish(c, convolution(c, x, p), In == Input::quantized ? c.size() - 2 : c.size(), Relu);
}
template <bool Relu>
Results convolve_add(HostCall& c) {
  if (c.size() < 5) return std::nullopt;
  return finish(c, plain(c, "add", {convolution(c, c[0], packed(c.s, c[2])), c[1]}), 3, Relu);
}

template <char const* Op, bool Relu>
Results binary(HostCall& c) {
  if (c.size() < 2) return std::nullopt;
  return finish(c, plain(c, Op, {c[0], c[1]}), c.size() >= 4 ? 2 : c.size(), Relu, grid_dtype(c, c[0]));
}
template <bool Relu>
Results concatenate(HostCall& c) {
  return finish(c, plain(c, "cat", {c[0], c[1]}), 2, Relu);
}
// A float operator of the first arguments, with the output's scale and zero point after them.
template <char const* Op, size_t Count>
Results unary(HostCall& c) {
  if (!on_tensor(c) || c.size() < Count) return std::nullopt;
  return finish(c, plain(c, Op, std::vector<Value>(c.args.begin(), c.args.begin() + Count)), Count, false,
                grid_dtype(c, c[0]));
}
template <bool Relu>
Results batch_norm(HostCall& c) {
  if (c.size() < 8) return std::nullopt;
  return finish(c, plain(c, "batch_norm", {c[0], c[1], c[2], c[3], c[4], false, 0.0, c[5], false}), 6, Relu);
}
Results leaky_relu(HostCall& c) { return finish(c, plain(c, "leaky_relu", {c[0], c[1]}), 3); }
Results elu(HostCall& c) { return finish(c, plain(c, "elu", {c[0], c.size() > 3 ? c[3] : Value(Dim(1))}), 1); }
Results same_grid(HostCall& c, std::string_view op, std::vector<Value> args) {
  const Value y = plain(c, op, std::move(args));
  const Quantization* q = c.s.quantization(value(c));
  return q && y.is<TensorRef>() ? one(c.s.tensor(quantized(c.s, c.s.read(y.need<TensorRef>()), *q))) : one(y);
}
Results relu6(HostCall& c) { return same_grid(c, "hardtanh", {c[0], 0.0, 6.0}); }
Results clamp(HostCall& c) { return same_grid(c, "clamp", c.args); }

constexpr char add[] = "add", mul[] = "mul", matmul[] = "matmul", sigmoid[] = "sigmoid", hardswish[] = "hardswish",
               layer_norm[] = "layer_norm", group_norm[] = "group_norm", softmax[] = "softmax", prelu[] = "prelu";

constexpr HostRow table[] = {
    {"aten::quantize_per_tensor", quantize_per_tensor},
    {"aten::quantize_per_channel", quantize_per_channel},
    {"aten::dequantize", dequantize},
    {"aten::int_repr", int_repr},
    {"aten::q_scale", scale_of},
    {"aten::q_zero_point", zero_point_of},
    {"prim::is_quantized", is_quantized},
    {"prim::dtype", dtype_of},
    {"quantized::linear_prepack", linear_prepack},
    {"quantized::linear_prepack_fp16", linear_prepack},
    {"quantized::linear_unpack", unpack},
    {"quantized::linear_unpack_fp16", unpack},
    {"quantized::conv1d_prepack", conv_prepack<false>},
    {"quantized::conv2d_prepack", conv_prepack<false>},
    {"quantized::conv3d_prepack", conv_prepack<false>},
    {"quantized::conv_prepack", conv_prepack<false>},
    {"quantized::conv_transpose1d_prepack", conv_prepack<true>},
    {"quantized::conv_transpose2d_prepack", conv_prepack<true>},
    {"quantized::conv_transpose3d_prepack", conv_prepack<true>},
    {"quantized::conv1d_unpack", unpack},
    {"quantized::conv2d_unpack", unpack},
    {"quantized::conv3d_unpack", unpack},
    {"quantized::embedding_byte", embedding_rows},
    {"quantized::embedding_bag_byte", embedding_sums},
    {"quantized::linear", linear<Input::quantized, false>},
    {"quantized::linear_relu", linear<Input::quantized, true>},
    {"quantized::linear_dynamic", linear<Input::by_range, false>},
    {"quantized::linear_relu_dynamic", linear<Input::by_range, true>},
    {"quantized::linear_dynamic_fp16", linear<Input::as_is, false>},
    {"quantized::linear_relu_dynamic_fp16", linear<Input::as_is, true>},
    {"quantized::conv1d", convolve<Input::quantized, false>},
    {"quantized::conv2d", convolve<Input::quantized, false>},
    {"quantized::conv3d", convolve<Input::quantized, false>},
    {"quantized::conv1d_relu", convolve<Input::quantized, true>},
    {"quantized::conv2d_relu", convolve<Input::quantized, true>},
    {"quantized::conv3d_relu", convolve<Input::quantized, true>},
    {"quantized::conv_transpose1d", convolve<Input::quantized, false>},
    {"quantized::conv_transpose2d", convolve<Input::quantized, false>},
    {"quantized::conv_transpose3d", convolve<Input::quantized, false>},
    {"quantized::conv1d_dynamic", convolve<Input::by_range, false>},
    {"quantized::conv2d_dynamic", convolve<Input::by_range, false>},
    {"quantized::conv3d_dynamic", convolve<Input::by_range, false>},
    {"quantized::conv2d_add", convolve_add<false>},
    {"quantized::conv2d_add_relu", convolve_add<true>},
    {"quantized::add", binary<add, false>},
    {"quantized::add_relu", binary<add, true>},
    {"quantized::mul", binary<mul, false>},
    {"quantized::mul_relu", binary<mul, true>},
    {"quantized::matmul", binary<matmul, false>},
    {"quantized::add_scalar", binary<add, false>},
    {"quantized::mul_scalar", binary<mul, false>},
    {"quantized::cat", concatenate<false>},
    {"quantized::cat_relu", concatenate<true>},
    {"quantized::sigmoid", unary<sigmoid, 1>},
    {"quantized::hardswish", unary<hardswish, 1>},
    {"quantized::layer_norm", unary<layer_norm, 5>},
    {"quantized::group_norm", unary<group_norm, 5>},
    {"quantized::softmax", unary<softmax, 2>},
    {"quantized::prelu", unary<prelu, 2>},
    {"quantized::batch_norm", batch_norm<false>},
    {"quantized::batch_norm1d", batch_norm<false>},
    {"quantized::batch_norm2d", batch_norm<false>},
    {"quantized::batch_norm3d", batch_norm<false>},
    {"quantized::batch_norm2d_relu", batch_norm<true>},
    {"quantized::batch_norm3d_relu", batch_norm<true>},
    {"quantized::leaky_relu", leaky_relu},
    {"quantized::elu", elu},
    {"quantized::relu6", relu6},
    {"quantized::clamp", clamp},
};

}  // namespace

std::span<const HostRow> host_quantized_rows() { return table; }

}  // namespace cameo::staging
