// Every operator that has a fast kernel, at odd sizes and with odd operands, followed by what fast kernels take along:
// a session computes what the reference does, or both refuse. Some operands are damaged: a size off, an axis more or
// less.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "engine/session.h"
#include "ops/infer.h"
#include "ops/op_def.h"
#include "ops/generated/attributes.h"
#include "property/sampler.h"
#include "runtime/compare.h"
#include "runtime/reference.h"
#include "support/error.h"

namespace cameo::tests {

namespace {

using Sizes = std::vector<int64_t>;

// A model under construction. Sizes are literal until it is done, so that what follows a node can ask for its shape.
class Sketch {
 public:
  explicit Sketch(Sampler& sampler) : s(sampler) {}

  Sampler& s;
  Model model;
  std::vector<Datum> inputs;
  std::vector<ValueId> values;  // what nodes gave
  std::vector<ValueId> also;    // further outputs
  bool refused = false;         // a shape rule objected

  Graph& g() { return model.graph; }
  int64_t size() { return s.chance(4) ? 0 : s.pick<int64_t>({1, 1, 2, 3, 3, 5, 8, 17}); }
  Sizes shape(int64_t least, int64_t most) {
    Sizes out(static_cast<size_t>(s.between(least, most)));
    for (int64_t& d : out) d = out.size() > 4 ? s.pick<int64_t>({1, 2, 3}) : size();
    return out;
  }

  ValueId constant(Tensor t) { return g().add_constant(t); }
  ValueId ints(const Sizes& v) { return constant(Tensor::ints(v)); }
  // A tensor of these sizes, or nearly: given with the run, or as a weight.
  ValueId operand(DType type, Sizes sizes, int constants = 30) {
    if (s.chance(5)) damage(sizes);
    return exactly(type, std::move(sizes), constants);
  }
  ValueId exactly(DType type, Sizes sizes, int constants = 30) {
    Tensor t = s.tensor(type, std::move(sizes));
    if (s.chance(constants)) return constant(std::move(t));
    const ValueId v = g().add_input(g().main(), cat("i", inputs.size()),
                                    Type::tensor(type, Shape(t.shape().begin(), t.shape().end())));
    inputs.emplace_back(std::move(t));
    return v;
  }
  ValueId f32(Sizes sizes) { return operand(DType::f32, std::move(sizes)); }
  ValueId weight(Sizes sizes) { return operand(DType::f32, std::move(sizes), 80); }

  template <class Attrs>
  std::vector<ValueId> nodes(Attrs attrs, std::vector<ValueId> in, size_t outputs) {
    return add(op_of<Attrs>(), std::make_shared<const Attrs>(std::move(attrs)), std::move(in), outputs);
  }
  template <class Attrs>
  ValueId node(Attrs attrs, std::vector<ValueId> in) {
    return nodes(std::move(attrs), std::move(in), 1)[0];
  }
  ValueId named(std::string_view op, std::vector<ValueId> in) {
    return add(*find_op("", op), nullptr, std::move(in), 1)[0];
  }

  // What f makes comes before all that is there.
  template <class F>
  ValueId early(F f) {
    before_ = g()[g().main()].first;
    const ValueId v = f();
    before_ = {};
    return v;
  }

  std::optional<Sizes> sizes_of(ValueId v) {
    return g()[v].fact.has_rank() ? known_shape(g()[v].fact.shape()) : std::nullopt;
  }
  DType type_of(ValueId v) { return g()[v].fact.dtype(); }

  // The inputs' sizes become unknown, so that only the run tells them.
  void loosen() {
    for (const ValueId v : g()[g().main()].inputs)
      for (Dim& d : *g().fact(v).type.shape)
        if (s.chance(70)) d = g().dims().fresh();
    for (const ValueId v : values) g().fact(v) = {};
    infer(g());
  }

 private:
  void damage(Sizes& sizes) {
    const int64_t how = s.between(0, 5);
    if (how == 0) sizes.push_back(s.pick<int64_t>({1, 2}));
    else if (how == 1) sizes.insert(sizes.begin(), s.pick<int64_t>({1, 2}));
    else if (how == 2 && !sizes.empty())
      sizes.erase(sizes.begin() + s.between(0, static_cast<int64_t>(sizes.size()) - 1));
    else if (!sizes.empty()) {
      int64_t& d = s.pick(std::vector<int64_t*>{&sizes.front(), &sizes.back(), &sizes[sizes.size() / 2]})[0];
      d = how == 3 ? 1 : how == 4 ? d + s.between(1, 20) : std::max<int64_t>(0, d - 1);
    }
  }
  std::vector<ValueId> add(const OpDef& op, std::shared_ptr<const void> attrs, std::vector<ValueId> in,
                           size_t outputs) {
    const NodeId n = g().add_node(g().main(), op, std::move(attrs), std::move(in), outputs, before_);
    const std::vector<ValueId> out = g()[n].outputs;
    values.insert(values.end(), out.begin(), out.end());
    if (refused) return out;
    try {
      infer_node(g(), n);
    } catch (const Error& e) {
      EXPECT_NE(e.exit_code(), 4) << e.diag().render();
      refused = true;
    }
    return out;
  }

  NodeId before_;
};

// Another shape that broadcasts to or with this one: its end, a 1 somewhere, a scalar, more axes.
Sizes partner(Sketch& k, Sizes of) {
  switch (k.s.between(0, 6)) {
    case 0: return {};
    case 1: return of.empty() ? of : Sizes{of.back()};
    case 2: return of.empty() ? of : Sizes{1, of.back()};
    case 3: of.insert(of.begin(), 1); return of;
    case 4:
      return of.size() < 2 ? of : [&] {
        Sizes out(of.size() - 1, 1);
        out[0] = of[1];
        return out;
      }();
    case 5:
      if (!of.empty()) of[static_cast<size_t>(k.s.between(0, static_cast<int64_t>(of.size()) - 1))] = 1;
      return of;
    default: return of;
  }
}

ValueId batch_norm(Sketch& k, ValueId x, int64_t channels) {
  const auto each = [&] { return k.weight({channels}); };
  const ValueId scale = each(), shift = each(), mean = each();
  return k.node(op::BatchNormalization{}, {x, scale, shift, mean, k.named("Abs", {each()})});
}

// Something that was computed before and has no other use: in a buffer of its own, or the second half of one.
ValueId residual(Sketch& k, Sizes sizes) {
  if (sizes.empty() || k.s.chance(50)) return k.named("Relu", {k.f32(sizes)});
  const int64_t half = sizes[0];
  sizes[0] *= 2;
  const auto parts = k.nodes(op::Split{.axis = 0}, {k.named("Relu", {k.f32(sizes)}), k.ints({half, half})}, 2);
  k.also.push_back(k.named("Exp", {parts[0]}));
  return parts[1];
}

ValueId follower(Sketch& k, ValueId x) {
  const auto sizes = k.sizes_of(x);
  if (k.refused || !sizes || k.type_of(x) != DType::f32) return x;
  static const std::vector<std::string> unary{"Relu", "Sigmoid", "Tanh", "HardSwish", "Erf", "Softplus", "Abs", "Neg"};
  static const std::vector<std::string> binary{"Add", "Add", "Add", "Mul", "Sub", "Div", "Max", "Min"};
  switch (k.s.between(0, 7)) {
    case 0: return k.node(op::Swish{}, {x});
    case 1: return k.node(op::LeakyRelu{.alpha = 0.1f}, {x});
    case 2: return k.node(op::Clip{}, {x, k.operand(DType::f32, {}, 80)});
    case 3: return sizes->size() >= 2 ? batch_norm(k, x, (*sizes)[1]) : k.node(op::Gelu{}, {x});
    case 4: return k.named(k.s.pick(unary), {x});
    case 5: {
      const ValueId other = k.early([&] { return residual(k, *sizes); });
      return k.s.chance(50) ? k.named("Add", {x, other}) : k.named("Add", {other, x});
    }
    default: {
      const ValueId other = k.f32(partner(k, *sizes));
      const std::string op = k.s.pick(binary);
      return k.s.chance(70) ? k.named(op, {x, other}) : k.named(op, {other, x});
    }
  }
}

int64_t any_axis(Sketch& k, size_t rank) {
  const auto n = static_cast<int64_t>(rank);
  return n == 0 || k.s.chance(3) ? k.s.pick<int64_t>({-7, 7, INT64_MIN, INT64_MAX}) : k.s.between(-n, n - 1);
}

// ---- one builder per family ----

ValueId elementwise(Sketch& k) {
  const Sizes sizes = k.shape(0, 6);
  if (k.s.chance(30)) return follower(k, k.f32(sizes));
  const ValueId a = k.f32(partner(k, sizes)), b = k.f32(k.s.chance(70) ? sizes : partner(k, sizes));
  return k.named(k.s.pick<std::string>({"Add", "Sub", "Mul", "Div", "Max", "Min"}), {a, b});
}

ValueId moved(Sketch& k) {
  const Sizes sizes = k.shape(0, 5);
  const DType type = k.s.pick<DType>({DType::f32, DType::f32, DType::i64, DType::u8, DType::f16, DType::f64});
  const ValueId x = k.operand(type, sizes);
  const auto rank = static_cast<int64_t>(sizes.size());
  switch (k.s.between(0, 9)) {
    case 0: {
      Sizes perm(sizes.size());
      std::iota(perm.begin(), perm.end(), 0);
      for (size_t i = perm.size(); i > 1; --i)
        std::swap(perm[i - 1], perm[static_cast<size_t>(k.s.between(0, static_cast<int64_t>(i) - 1))]);
      return k.node(op::Transpose{.perm = perm}, {x});
    }
    case 1:
    case 2: {
      const int64_t axis = any_axis(k, sizes.size());
      std::vector<ValueId> parts{x};
      for (int64_t i = k.s.between(0, 2); i > 0; --i) {
        Sizes other = sizes;
        if (const int64_t at = axis < 0 ? axis + rank : axis; at >= 0 && at < rank)
          other[static_cast<size_t>(at)] = k.size();
        parts.push_back(k.operand(type, other));
      }
      return k.node(op::Concat{.axis = axis}, parts);
    }
    case 3: {
      const int64_t axis = any_axis(k, sizes.size()), at = axis < 0 ? axis + rank : axis;
      const int64_t whole = at >= 0 && at < rank ? sizes[static_cast<size_t>(at)] : 4, first = k.s.between(0, whole);
      const auto parts =
          k.nodes(op::Split{.axis = axis}, {x, k.ints({first, whole - first + (k.s.chance(5) ? 1 : 0)})}, 2);
      return parts[k.s.chance(50) ? 0 : 1];
    }
    case 4:
    case 5: {
      Sizes starts, ends, axes, steps;
      for (int64_t i = k.s.between(0, 2); i > 0; --i) {
        starts.push_back(k.s.between(-6, 6)), ends.push_back(k.s.pick<int64_t>({-2, 1, 3, 9, INT64_MAX, INT64_MIN})),
            axes.push_back(any_axis(k, sizes.size()));
        steps.push_back(k.s.pick<int64_t>({1, 1, 1, 2, -1, -3, INT64_MIN, INT64_MAX}));
      }
      return k.node(op::Slice{}, {x, k.ints(starts), k.ints(ends), k.ints(axes), k.ints(steps)});
    }
    case 6: return k.node(op::Expand{}, {x, k.ints(partner(k, sizes))});
    case 7: {
      const Sizes shape = k.shape(0, 2);
      return k.node(op::Gather{.axis = any_axis(k, sizes.size())},
                    {x, k.operand(k.s.chance(50) ? DType::i64 : DType::i32, shape)});
    }
    case 8: return k.node(op::Flatten{.axis = k.s.between(-1, 2)}, {x});
    default: {
      Sizes other = sizes;
      std::reverse(other.begin(), other.end());
      return k.named("Identity", {k.node(op::Reshape{}, {x, k.ints(k.s.chance(90) ? other : Sizes{-1, 2})})});
    }
  }
}

ValueId normalized(Sketch& k) {
  const Sizes sizes = k.shape(1, 5);
  const ValueId x = k.f32(sizes);
  const int64_t axis = any_axis(k, sizes.size()), at = axis < 0 ? axis + static_cast<int64_t>(sizes.size()) : axis;
  const Sizes end =
      at >= 0 && at <= static_cast<int64_t>(sizes.size()) ? Sizes(sizes.begin() + at, sizes.end()) : Sizes{3};
  const int64_t channels = sizes.size() > 1 ? sizes[1] : 1;
  switch (k.s.between(0, 6)) {
    case 0:
      return k.node(op::LayerNormalization{.axis = axis},
                    {x, k.weight(end), k.s.chance(50) ? k.weight(end) : ValueId()});
    case 1: return k.node(op::RMSNormalization{.axis = axis}, {x, k.weight(end)});
    case 2:
      return k.node(op::GroupNormalization{.num_groups = k.s.pick<int64_t>({1, channels, 2, 0, -1})},
                    {x, k.weight({channels}), k.weight({channels})});
    case 3: return k.node(op::InstanceNormalization{}, {x, k.weight({channels}), k.weight({channels})});
    case 4: return batch_norm(k, x, channels);
    case 5: return k.node(op::Softmax{.axis = axis}, {x});
    default: return k.node(op::LogSoftmax{.axis = axis}, {x});
  }
}

ValueId reduced(Sketch& k) {
  const Sizes sizes = k.shape(0, 5);
  Sizes axes;
  for (int64_t i = k.s.between(0, 2); i > 0; --i) axes.push_back(any_axis(k, sizes.size()));
  if (k.s.chance(2)) axes.assign(10000, 77);  // longer than shape rules read
  const std::vector<ValueId> in{k.f32(sizes), k.ints(axes)};
  const int64_t keepdims = k.s.between(0, 1);
  switch (k.s.between(0, 3)) {
    case 0: return k.node(op::ReduceMean{.keepdims = keepdims}, in);
    case 1: return k.node(op::ReduceSum{.keepdims = keepdims}, in);
    case 2: return k.node(op::ReduceMax{.keepdims = keepdims}, in);
    default: return k.node(op::ReduceMin{.keepdims = keepdims}, in);
  }
}

ValueId products(Sketch& k) {
  const int64_t m = k.size(), inner = k.size(), n = k.size();
  Sizes left = k.shape(0, 3), right = k.s.chance(60) ? Sizes{} : partner(k, left);
  if (k.s.chance(40)) {
    const bool a = k.s.chance(20), b = k.s.chance(50);
    const ValueId c = k.s.chance(70) ? k.weight(k.s.pick<Sizes>({{n}, {1, n}, {m, n}, {m, 1}, {}, {1}})) : ValueId();
    return k.node(op::Gemm{.transA = a, .transB = b},
                  {k.f32(a ? Sizes{inner, m} : Sizes{m, inner}), k.weight(b ? Sizes{n, inner} : Sizes{inner, n}), c});
  }
  if (!k.s.chance(10)) left.push_back(m);
  left.push_back(inner), right.push_back(inner);
  if (!k.s.chance(10)) right.push_back(n);
  return k.named("MatMul", {k.f32(left), k.weight(right)});
}

struct Window {
  Sizes x, w, strides, dilations, pads;
  int64_t group, channels;
};
Window window(Sketch& k, int far_percent = 3) {
  Window out;
  const auto axes = static_cast<size_t>(k.s.between(1, 3));
  out.group = k.s.pick<int64_t>({1, 1, 1, 2, 3, 0, -1});
  const int64_t each = k.s.between(1, 3), outs = k.s.between(1, 9), groups = std::max<int64_t>(1, out.group);
  out.channels = groups * outs;
  out.x = {k.s.between(1, 2), groups * each}, out.w = {groups * outs, each};
  for (size_t i = 0; i < axes; ++i) {
    out.x.push_back(k.s.pick<int64_t>({1, 4, 5, 9, 17})), out.w.push_back(k.s.between(1, 3));
    out.strides.push_back(k.s.pick<int64_t>({1, 1, 2, 3})), out.dilations.push_back(k.s.pick<int64_t>({1, 1, 1, 2}));
  }
  const int64_t far = k.s.chance(far_percent) ? k.s.pick<int64_t>({1 << 20, int64_t{1} << 29, -1}) : 0;
  for (size_t i = 0; i < 2 * axes; ++i) out.pads.push_back(k.s.between(0, 2));
  if (far) out.pads[0] = far, out.strides[0] = std::max<int64_t>(1, far);
  return out;
}

ValueId convolution(Sketch& k) {
  const int64_t kind = k.s.between(0, 4);
  Window w = window(k, kind == 0 ? 0 : 3);  // strides make the result of a transposed one
  switch (kind) {
    case 0: {
      w.w[0] = w.x[1], w.w[1] = w.channels / std::max<int64_t>(1, w.group);
      return k.node(op::ConvTranspose{.dilations = w.dilations, .group = w.group, .pads = w.pads, .strides = w.strides},
                    {k.f32(w.x), k.weight(w.w), k.s.chance(50) ? k.weight({w.channels}) : ValueId()});
    }
    case 1: {
      const Sizes kernel(w.w.begin() + 2, w.w.end());
      const ValueId x = k.f32(w.x);
      if (k.s.chance(20)) return k.named(k.s.chance(50) ? "GlobalAveragePool" : "GlobalMaxPool", {x});
      if (k.s.chance(50))
        return k.node(op::MaxPool{.ceil_mode = k.s.between(0, 1),
                                  .dilations = w.dilations,
                                  .kernel_shape = kernel,
                                  .pads = w.pads,
                                  .strides = w.strides},
                      {x});
      return k.node(op::AveragePool{.ceil_mode = k.s.between(0, 1),
                                    .count_include_pad = k.s.between(0, 1),
                                    .kernel_shape = kernel,
                                    .pads = w.pads,
                                    .strides = w.strides},
                    {x});
    }
    default:
      return k.node(op::Conv{.dilations = w.dilations, .group = w.group, .pads = w.pads, .strides = w.strides},
                    {k.f32(w.x), k.weight(w.w), k.s.chance(60) ? k.weight({w.channels}) : ValueId()});
  }
}

ValueId resized(Sketch& k) {
  Sizes sizes = k.shape(1, 4), to = sizes;
  for (int64_t& d : to) d = std::max<int64_t>(1, k.size());
  op::Resize a;
  a.mode = k.s.pick<std::string>({"nearest", "linear", "cubic"});
  a.coordinate_transformation_mode = k.s.pick<std::string>({"half_pixel", "asymmetric", "align_corners"});
  const ValueId x = k.f32(sizes);
  if (k.s.chance(50)) return k.node(a, {x, {}, {}, k.ints(to)});
  return k.node(
      a, {x, {}, k.constant(k.s.tensor(DType::f32, {static_cast<int64_t>(sizes.size()) + (k.s.chance(5) ? 1 : 0)}))});
}

ValueId bytes(Sketch& k) {
  const DType t = k.s.chance(50) ? DType::u8 : DType::i8, u = k.s.chance(50) ? DType::u8 : DType::i8;
  const auto scale = [&](int64_t n) {
    return n == 1 ? k.constant(full(DType::f32, {}, 0.25)) : k.operand(DType::f32, {n}, 90);
  };
  const auto zero = [&](DType type, Sizes sizes) { return k.operand(type, std::move(sizes), 90); };
  switch (k.s.between(0, 6)) {
    case 0:
    case 1: {
      const Sizes sizes = k.shape(1, 4);
      const int64_t axis = any_axis(k, sizes.size()), at = axis < 0 ? axis + static_cast<int64_t>(sizes.size()) : axis;
      const int64_t n =
          k.s.chance(50) || at < 0 || at >= static_cast<int64_t>(sizes.size()) ? 1 : sizes[static_cast<size_t>(at)];
      const Sizes each = n == 1 ? Sizes{} : Sizes{n};
      const ValueId q = k.node(op::QuantizeLinear{.axis = axis}, {k.f32(sizes), scale(n), zero(t, each)});
      return k.s.chance(50) ? q : k.node(op::DequantizeLinear{.axis = axis}, {q, scale(n), zero(t, each)});
    }
    case 2:
    case 3: {
      const int64_t m = k.size(), inner = k.size(), n = k.size();
      const Sizes left{k.s.between(1, 2), m, inner}, right{inner, n};
      const Sizes some = k.s.pick<Sizes>({{}, {1}, {n}});
      if (k.s.chance(50))
        return k.named("MatMulInteger",
                       {k.operand(t, left), k.operand(u, right, 80), k.s.chance(70) ? zero(t, {}) : ValueId(),
                        k.s.chance(70) ? zero(u, some) : ValueId()});
      return k.named("QLinearMatMul", {k.operand(t, left), scale(1), zero(t, {}), k.operand(u, right, 80), scale(1),
                                       zero(u, some), scale(1), zero(t, {})});
    }
    case 4:
    case 5: {
      const Window w = window(k);
      const Sizes some = k.s.pick<Sizes>({{}, {1}, {w.channels}});
      if (k.s.chance(50)) {
        const op::ConvInteger a{.dilations = w.dilations, .group = w.group, .pads = w.pads, .strides = w.strides};
        return k.node(a, {k.operand(t, w.x), k.operand(u, w.w, 80), k.s.chance(70) ? zero(t, {}) : ValueId(),
                          k.s.chance(70) ? zero(u, some) : ValueId()});
      }
      const op::QLinearConv a{.dilations = w.dilations, .group = w.group, .pads = w.pads, .strides = w.strides};
      return k.node(a, {k.operand(t, w.x), scale(1), zero(t, {}), k.operand(u, w.w, 80),
                        scale(some.empty() ? 1 : some[0]), zero(u, some), scale(1), zero(t, {}),
                        k.s.chance(50) ? k.operand(DType::i32, {w.channels}, 80) : ValueId()});
    }
    default: return k.nodes(op::DynamicQuantizeLinear{}, {k.f32(k.shape(0, 3))}, 3)[0];
  }
}

// An operator on floats between DequantizeLinear and QuantizeLinear.
ValueId quantized(Sketch& k) {
  const DType t = k.s.chance(50) ? DType::u8 : DType::i8;
  const auto floats = [&](DType type, Sizes sizes, int constants, int64_t axis) {
    const int64_t n =
        k.s.chance(50) || axis >= static_cast<int64_t>(sizes.size()) ? 1 : sizes[static_cast<size_t>(axis)];
    const Sizes each = n == 1 ? Sizes{} : Sizes{n};
    const ValueId x = k.operand(type, std::move(sizes), constants);
    return k.node(op::DequantizeLinear{.axis = axis}, {x, k.operand(DType::f32, each, 95), k.operand(type, each, 95)});
  };
  const auto back = [&](ValueId y) {
    return k.node(op::QuantizeLinear{}, {y, k.constant(full(DType::f32, {}, 0.5)), k.operand(t, {}, 95)});
  };
  if (k.s.chance(50)) {
    const Window w = window(k);
    const ValueId x = k.node(op::DequantizeLinear{},
                             {k.operand(t, w.x), k.constant(full(DType::f32, {}, 0.25)), k.operand(t, {}, 95)});
    const ValueId bias = k.s.chance(50) ? floats(DType::i32, {w.channels}, 95, 0) : ValueId();
    return back(k.node(op::Conv{.dilations = w.dilations, .group = w.group, .pads = w.pads, .strides = w.strides},
                       {x, floats(DType::i8, w.w, 95, 0), bias}));
  }
  const int64_t m = k.size(), inner = k.size(), n = k.size();
  const ValueId x = k.node(op::DequantizeLinear{},
                           {k.operand(t, {m, inner}), k.constant(full(DType::f32, {}, 0.25)), k.operand(t, {}, 95)});
  const ValueId w = floats(DType::i8, {inner, n}, 95, 1);
  if (k.s.chance(50)) return back(k.named("MatMul", {x, w}));
  return k.node(op::Gemm{}, {x, w, k.weight(k.s.pick<Sizes>({{n}, {1, n}, {m, n}, {}}))});
}

ValueId attention(Sketch& k) {
  const int64_t batch = k.s.between(1, 2), kv = k.s.between(1, 2), heads = kv * k.s.between(1, 2), rows = k.size(),
                keys = k.size(), depth = k.s.between(1, 5), value = k.s.between(1, 5);
  op::Attention a;
  a.is_causal = k.s.between(0, 1);
  std::vector<ValueId> in;
  if (k.s.chance(50)) {
    a.q_num_heads = k.s.chance(5) ? 0 : heads, a.kv_num_heads = k.s.chance(5) ? 0 : kv;
    in = {k.f32({batch, rows, heads * depth}), k.f32({batch, keys, kv * depth}), k.f32({batch, keys, kv * value})};
  } else {
    in = {k.f32({batch, heads, rows, depth}), k.f32({batch, kv, keys, depth}), k.f32({batch, kv, keys, value})};
  }
  if (k.s.chance(50))
    in.push_back(k.f32(k.s.pick<Sizes>({{rows, keys}, {1, keys}, {batch, 1, rows, keys}, {heads, 1, 1}})));
  return k.node(a, in);
}

ValueId recurrent(Sketch& k) {
  const int64_t times = k.size(), batch = k.s.pick<int64_t>({1, 2, 6}), width = k.size(),
                hidden = k.s.pick<int64_t>({1, 3, 17}), d = k.s.between(1, 2);
  const bool lstm = k.s.chance(50);
  const int64_t gates = lstm ? 4 : 3;
  const std::string direction =
      d == 2 ? "bidirectional" : k.s.pick<std::string>({"forward", "reverse", "bidirectional"});
  std::vector<ValueId> in{k.f32({times, batch, width}), k.weight({d, gates * hidden, width}),
                          k.weight({d, gates * hidden, hidden}),
                          k.s.chance(50) ? k.weight({d, 2 * gates * hidden}) : ValueId()};
  if (k.s.chance(50)) in.insert(in.end(), {ValueId(), k.f32({d, batch, hidden})});
  if (in.size() > 4 && lstm && k.s.chance(80)) in.push_back(k.f32({d, batch, hidden}));
  const std::optional<int64_t> size = k.s.chance(80)   ? std::optional(hidden)
                                      : k.s.chance(50) ? std::optional<int64_t>(hidden + 1)
                                                       : std::nullopt;
  if (lstm)
    return k.nodes(op::LSTM{.direction = direction, .hidden_size = size}, in,
                   3)[static_cast<size_t>(k.s.between(0, 2))];
  return k.nodes(op::GRU{.direction = direction, .hidden_size = size, .linear_before_reset = k.s.between(0, 1)}, in,
                 2)[static_cast<size_t>(k.s.between(0, 1))];
}

// ---- running ----

struct Outcome {
  std::vector<Datum> out;
  std::string why;  // of a refusal
};
template <class F>
Outcome outcome(F f, bool& broken) {
  Outcome o;
  try {
    o.out = f();
  } catch (const Error& e) {
    o.why = e.what();
    broken = broken || e.exit_code() == 4;
  } catch (const std::exception& e) {
    o.why = e.what();
    broken = true;
  }
  return o;
}

struct Family {
  const char* name;
  ValueId (*build)(Sketch& k);
  bool steps = false;  // a last bit may decide there, or grow: only types and sizes are compared
};

std::string text_of(Sketch& k) {
  std::string out;
  for (const NodeId n : k.g().nodes(k.g().main())) {
    out += cat(describe(k.g(), n), "(");
    for (const ValueId v : k.g()[n].inputs)
      out += v ? cat(k.g().is_constant(v) ? "const " : "", k.g()[v].fact.type.text(), ", ") : "none, ";
    out += ") ";
  }
  for (const Datum& d : k.inputs)
    out +=
        cat(" given ", Type::tensor(d.tensor.dtype(), Shape(d.tensor.shape().begin(), d.tensor.shape().end())).text());
  return out;
}

// What is wrong with one random model; empty when nothing is.
std::string try_once(const Family& f, uint32_t seed, size_t& computed) {
  Sampler s(seed);
  Sketch k(s);
  ValueId y = f.build(k);
  std::vector<ValueId> outputs;
  for (int64_t i = s.between(0, 3); i > 0; --i) {
    if (s.chance(15)) outputs.push_back(y);
    y = follower(k, y);
  }
  outputs.push_back(y);
  outputs.insert(outputs.end(), k.also.begin(), k.also.end());
  for (ValueId& v : outputs)
    if (!k.g()[v].def) v = k.named("Identity", {v});
  k.g().set_region_outputs(k.g().main(), outputs);
  if (s.chance(50)) k.loosen();
  bool broken = false;
  const Outcome want = outcome([&] { return run_reference(k.model, k.inputs); }, broken);
  if (broken) return cat("reference: ", want.why, "\n", text_of(k));
  for (const bool onednn : {true, false}) {
    SessionOptions options;
    options.onednn = onednn;
    options.threads = 1;
    const Outcome got = outcome([&] { return Session(k.model, options).run(k.inputs); }, broken);
    if (broken) return cat("session: ", got.why, "\n", text_of(k));
    // The reference also looks at indices with which nothing is looked up.
    const bool nothing =
        std::all_of(got.out.begin(), got.out.end(), [](const Datum& d) { return d.tensor.count() == 0; });
    if (!want.why.empty() && got.why.empty() && nothing) continue;
    if (want.why.empty() != got.why.empty())
      return cat("reference: ", want.why.empty() ? "computes" : want.why,
                 "\nsession: ", got.why.empty() ? "computes" : got.why, "\n", text_of(k));
    for (size_t i = 0; i < got.out.size(); ++i) {
      const Tensor &a = got.out[i].tensor, &b = want.out[i].tensor;
      const Comparison c = !f.steps ? compare(got.out[i], want.out[i], {.rtol = 2e-3, .atol = 1e-3})
                                    : Comparison{.same = a.dtype() == b.dtype() && a.shape() == b.shape()};
      if (!c.same) return cat("output ", i, onednn ? "" : " without oneDNN", ": ", c.why, "\n", text_of(k));
    }
  }
  computed += want.why.empty();
  return "";
}

class FastPaths : public testing::TestWithParam<Family> {};

TEST_P(FastPaths, AgreeWithTheReferenceOrRefuse) {
  size_t computed = 0;
  constexpr uint32_t models = 400;
  for (uint32_t i = 0; i < models; ++i)
    EXPECT_EQ(try_once(GetParam(), i + 1, computed), "") << GetParam().name << " " << i + 1;
  EXPECT_GT(computed, models / 4);
}

constexpr Family families[] = {{"Elementwise", elementwise},   {"Moved", moved},
                               {"Normalized", normalized},     {"Reduced", reduced},
                               {"Products", products},         {"Convolution", convolution},
                               {"Resized", resized},           {"Bytes", bytes, true},
                               {"Quantized", quantized, true}, {"Attention", attention},
                               {"Recurrent", recurrent, true}};
INSTANTIATE_TEST_SUITE_P(All, FastPaths, testing::ValuesIn(families),
                         [](const auto& about) { return std::string(about.param.name); });

}  // namespace

}  // namespace cameo::tests
