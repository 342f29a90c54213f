#include "staging/machine/quantized.h"

#include <algorithm>

#include "kernels/carrier.h"
#include "lowering/narrow.h"

namespace cameo::staging {

namespace {

V axis_form(Machine& s, V ints, const Quantization& q) {
  op::DequantizeLinear attrs;
  if (q.axis >= 0) attrs.axis = q.axis;
  return s.on.DequantizeLinear(ints, q.scale, q.zero_point, attrs);
}

bool any_of(std::string_view op, std::span<const std::string_view> names) {
  return std::find(names.begin(), names.end(), op) != names.end();
}

}  // namespace

V quantized(Machine& s, V x, Quantization q) {
  op::QuantizeLinear attrs;
  if (q.axis >= 0) attrs.axis = q.axis;
  q.ints = s.on.QuantizeLinear(s.on.to(x, DType::f32), q.scale, q.zero_point, attrs);
  const V out = axis_form(s, q.ints, q);
  s.mark_quantized(out, q);
  return out;
}

V quantized(Machine& s, V x, const Value& scale, const Value& zero_point, DType dtype) {
  Quantization q;
  q.dtype = dtype;
  const auto number = [&](const Value& v, DType t) {
    const auto* tensor = v.as<TensorRef>();
    V out = tensor ? s.on.to(s.read(*tensor), t) : s.on.scalar(Num(s.to_arg(v)), t);
    return s.on.rank(out) == 0 ? out : s.on.reshape(out, {});
  };
  q.scale = number(scale, DType::f32);
  q.zero_point = number(zero_point, dtype);
  return quantized(s, x, q);
}

V quantized_by_range(Machine& s, V x, bool reduce_range) {
  auto& on = s.on;
  const DType t = on.dtype(x);
  const V zero = on.number(0, t), most = on.number(reduce_range ? 127 : 255, t);
  const auto both = [](V a, V b) { return std::vector<ValueId>{a, b}; };
  const V low = on.Min(both(on.ReduceMin(x, {}, op::ReduceMin{.keepdims = 0}), zero)),
          high = on.Max(both(on.ReduceMax(x, {}, op::ReduceMax{.keepdims = 0}), zero));
  const V step = on.Div(on.Sub(high, low), most);
  const V scale = on.Where(on.Equal(step, zero), on.number(0.1, t), step);
  const V origin = on.Clip(on.Round(on.Div(on.Neg(low), scale)), zero, most);
  const V grid = on.Clip(on.Round(on.Add(on.Div(x, scale), origin)), zero, most);
  return on.Mul(on.Sub(grid, origin), scale);
}

Value plain(HostCall& c, std::string_view op, std::vector<Value> args) {
  const Machine::FloatOnly only(c.s);
  return c.s.call_op("aten", op, {std::move(args), {}})[0];
}

// What picks or moves elements: the result lies on its operand's grid.
constexpr std::string_view keeps_grid[] = {
    "relu",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "adaptive_max_pool2d",
    "view",
    "reshape",
    "flatten",
    "unflatten",
    "permute",
    "transpose",
    "t",
    "slice",
    "select",
    "squeeze",
    "unsqueeze",
    "contiguous",
    "clone",
    "detach",
    "chunk",
    "split",
    "split_with_sizes",
    "unbind",
    "narrow",
    "expand",
    "expand_as",
    "index_select",
    "index",
    "pixel_shuffle",
    "pixel_unshuffle",
    "channel_shuffle",
    "repeat",
    "flip",
    "max",
    "min",
    "amax",
    "amin",
    "dropout",
    "to",
    "view_as",
    "movedim",
    "upsample_nearest2d",
};

V carried(Machine& s, std::string_view op, const Quantization& q, V result) {
  if (!s.on.is_float(result)) return result;
  if (op.ends_with('_')) op.remove_suffix(1);
  if (any_of(op, keeps_grid)) {
    Quantization same = q;
    same.ints = V();
    same.axis = q.axis;
    s.mark_quantized(result, same);
    return result;
  }
  // Their range is known, so is their grid.
  Quantization own = q;
  if (op == "sigmoid" || op == "hardsigmoid" || op == "tanh") {
    const bool tanh = op == "tanh";
    own.scale = s.on.number(tanh ? 2.0 / 256 : 1.0 / 256, DType::f32);
    own.zero_point = s.on.number(tanh ? 128 : 0, DType::i64);
    own.zero_point = s.on.to(own.zero_point, q.dtype);
  }
  return quantized(s, result, own);
}

Value make_packed(Machine& s, Packed p) {
  ObjectCell cell;
  cell.attributes = {{"weight", p.weight},
                     {"bias", p.bias},
                     {"stride", s.list(p.stride)},
                     {"padding", s.list(p.padding)},
                     {"dilation", s.list(p.dilation)},
                     {"output_padding", s.list(p.output_padding)},
                     {"groups", p.groups},
                     {"transpose", p.transposed}};
  return Value(ObjectRef{s.heap.add(std::move(cell))});
}

namespace {

// ("2", [config, weight], [bias]) or (3, [config], [None, weight, bias]); config: the rank, then per axis stride,
// padding, dilation, output padding, then groups and whether it is transposed.
Packed packed_convolution(Machine& s, const std::vector<Value>& state) {
  const auto unknown = [&] {
    s.fail("stage.native-class", "the packed weights of a quantized convolution are of an unknown version");
  };
  if (state.size() < 3) unknown();
  const auto second = s.items(state[1]), third = s.items(state[2]);
  if (third.size() != 3 && second.size() < 2) unknown();
  Packed p;
  std::vector<Dim> config;
  if (third.size() == 3) {
    p.weight = third[1];
    p.bias = third[2];
    for (const Value& v : second) config.push_back(s.int_from(v));
  } else {
    p.weight = second[1];
    p.bias = third.empty() ? Value() : third[0];
    const auto* t = second[0].as<TensorRef>();
    if (const auto known = t ? s.on.fact(s.read(*t)).ints() : std::nullopt) config = *known;
  }
  const size_t d = config.empty() ? 0 : static_cast<size_t>(config[0].known().value_or(0));
  if (d == 0 || d > 3 || config.size() < 3 + 4 * d) unknown();
  const auto part = [&](size_t i) {
    return std::vector<Value>(config.begin() + static_cast<std::ptrdiff_t>(1 + i * d),
                              config.begin() + static_cast<std::ptrdiff_t>(1 + (i + 1) * d));
  };
  p.stride = part(0);
  p.padding = part(1);
  p.dilation = part(2);
  p.output_padding = part(3);
  p.groups = config[1 + 4 * d];
  p.transposed = !config[2 + 4 * d].is(0);
  return p;
}

const Value* attribute_of(const ObjectCell& cell, std::string_view name) {
  for (const auto& [key, value] : cell.attributes)
    if (key == name) return &value;
  return nullptr;
}

}  // namespace

Packed packed(Machine& s, const Value& object) {
  const auto* ref = object.as<ObjectRef>();
  if (!ref) s.fail("stage.native-class", "packed weights are needed here");
  const ObjectCell cell = s.heap.get<ObjectCell>(ref->cell);
  const auto get = [&](std::string_view name) { return attribute_of(cell, name); };
  if (const Value* weight = get("weight")) {
    const auto part = [&](std::string_view name) -> const Value& {
      if (const Value* v = get(name)) return *v;
      s.fail("stage.native-class", cat("packed weights without ", name));
    };
    Packed p{*weight,
             part("bias"),
             s.items(part("stride")),
             s.items(part("padding")),
             s.items(part("dilation")),
             s.items(part("output_padding")),
             s.int_from(part("groups")),
             part("transpose").need<bool>()};
    return p;
  }
  const Value* state = get("__state__");
  const std::string_view name = cell.class_name;
  if (state && name.ends_with("LinearPackedParamsBase") && s.items(*state).size() >= 2) {
    Packed p;
    p.weight = s.items(*state)[0];
    p.bias = s.items(*state)[1];
    return p;
  }
  if (state && name.find("Conv") != name.npos && s.items(*state).size() == 3)
    return packed_convolution(s, s.items(*state));
  s.fail("stage.native-class", cat("objects of the C++ class ", name, " are not supported"),
         "cameo reads packed weights of quantized linear and convolution layers");
}

// ("quantized_dynamic", biases, [], [reduce_range], [of input, of state]) or ("quantized_fp16", [], [], [], [of input,
// of state]). PyTorch computes with the biases that the packed weights have.
std::array<Packed, 2> packed_cell(Machine& s, const Value& object) {
  const auto unknown = [&] {
    s.fail("stage.native-class", "the packed weights of a quantized recurrent layer are of an unknown kind",
           "cameo reads those of torch.ao.quantization.quantize_dynamic");
  };
  const auto* ref = object.as<ObjectRef>();
  const Value* state = ref ? attribute_of(s.heap.get<ObjectCell>(ref->cell), "__state__") : nullptr;
  if (!state) unknown();
  const std::vector<Value> parts = s.items(*state);
  const auto* kind = parts.size() == 5 ? parts[0].as<std::string>() : nullptr;
  if (!kind || (*kind != "quantized_dynamic" && *kind != "quantized_fp16")) unknown();
  const std::vector<Value> layers = s.items(parts[4]);
  if (layers.size() != 2) unknown();
  return {packed(s, layers[0]), packed(s, layers[1])};
}

V packed_table(Machine& s, const Value& object) {
  const auto* ref = object.as<ObjectRef>();
  const Value* state = ref ? attribute_of(s.heap.get<ObjectCell>(ref->cell), "__state__") : nullptr;
  for (const Value& part : state ? std::vector<Value>(s.items(*state)) : std::vector<Value>()) {
    if (!part.is<ListRef>() || s.items(part).empty()) continue;
    const Value first = s.items(part)[0];
    const auto* t = first.as<TensorRef>();
    if (t && s.quantization(s.read(*t))) return s.read(*t);
  }
  s.fail("stage.native-class", "the packed table of a quantized embedding is of an unknown kind",
         "cameo reads those with 8 bits (float_qparams_weight_only_qconfig)");
}

}  // namespace cameo::staging
