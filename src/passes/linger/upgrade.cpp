#include "passes/linger/upgrade.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "ops/gate.h"
#include "ops/infer.h"
#include "ops/linger/grids.h"
#include "ops/on.h"
#include "support/error.h"

namespace cameo::passes {

namespace {

using ops::On;

constexpr int64_t byte = 8, accumulator = 32;

// One node of linger 1.x, and what its successors are written with.
class Old {
 public:
  Old(Graph& g, NodeId n) : on(g, g[n].home, n), node(n), g_(g) {}

  [[noreturn]] void refuse(std::string why) const {
    Loc where;
    where.scope = g_[node].name.empty() ? std::string(g_[node].op->name) : g_[node].name;
    throw error("convert.linger", cat(g_[node].op->name, " of linger 1.x: ", why)).at(where);
  }

  ValueId in(size_t i) const {
    const ValueId v = g_.input(node, i);
    if (!v) refuse(cat("operand ", i, " is missing"));
    return v;
  }
  std::vector<ValueId> inputs(size_t most) const {
    in(0);
    const auto& all = g_[node].inputs;
    return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(most, all.size()))};
  }
  bool is_float(size_t i) const { return ir::is_float(g_[in(i)].fact.dtype()); }
  std::optional<int64_t> known_size(ValueId v, int64_t axis) const {
    if (!g_[v].fact.has_rank()) return std::nullopt;
    const int64_t rank = g_[v].fact.rank(), at = axis < 0 ? axis + rank : axis;
    return at < 0 || at >= rank ? std::nullopt : g_[v].fact.shape()[static_cast<size_t>(at)].known();
  }

  bool has(std::string_view name) const { return given(name) != nullptr; }
  double scale(std::string_view name) const {
    const double v = number(name);
    if (!(v > 0) || !std::isfinite(v)) refuse(cat("'", name, "' is ", v, " and must be a number above 0"));
    return v;
  }
  double number(std::string_view name) const {
    const ir::AttrValue* v = given(name);
    if (!v) refuse(cat("it needs the attribute '", name, "'"));
    if (const auto* f = std::get_if<float>(v)) return static_cast<double>(*f);
    if (const auto* i = std::get_if<int64_t>(v)) return static_cast<double>(*i);
    refuse(cat("the attribute '", name, "' must be a number"));
  }
  int64_t integer(std::string_view name, std::optional<int64_t> otherwise = {}) const {
    const ir::AttrValue* v = given(name);
    if (!v && otherwise) return *otherwise;
    if (!v) refuse(cat("it needs the attribute '", name, "'"));
    if (const auto* i = std::get_if<int64_t>(v)) return *i;
    refuse(cat("the attribute '", name, "' must be a whole number"));
  }
  int64_t bits(std::string_view name, std::optional<int64_t> otherwise = {}) const {
    const int64_t v = integer(name, otherwise);
    if (v < 1 || v > accumulator) refuse(cat("'", name, "' is ", v, " and must be between 1 and 32"));
    return v;
  }
  std::vector<int64_t> integers(std::string_view name) const {
    const ir::AttrValue* v = given(name);
    if (v && std::holds_alternative<int64_t>(*v)) return {std::get<int64_t>(*v)};
    if (v && std::holds_alternative<std::vector<int64_t>>(*v)) return std::get<std::vector<int64_t>>(*v);
    refuse(cat("it needs the attribute '", name, "', a list of whole numbers"));
  }

  // Operand `i` in real numbers. Constants that are floats are real already.
  ValueId real(size_t i, double scale) {
    return is_float(i) ? in(i) : on.make(op::linger::Dequant{.scale_o = static_cast<float>(scale)}, {in(i)}, 1)[0];
  }
  ValueId quantised(ValueId x, double scale, int64_t bits = byte, std::optional<std::string> mode = {}) {
    op::linger::Quant a{.data_bits = bits, .scale_x = static_cast<float>(scale)};
    a.quant_mode = std::move(mode);
    return on.make(std::move(a), {x}, 1)[0];
  }

  // A product's result. Without o_bits it is float: the sums in steps of 1 / `steps`.
  template <class A>
  ValueId product(A a, std::vector<ValueId> operands, double steps) {
    a.o_bits = bits("o_bits", accumulator);
    a.scale_o = static_cast<float>(has("o_bits") ? scale("scale_o") : steps);
    const ValueId q = on.make(std::move(a), std::move(operands), 1)[0];
    return has("o_bits") ? q : on.make(op::linger::Dequant{.scale_o = static_cast<float>(steps)}, {q}, 1)[0];
  }
  template <class A>
  A with_x(int64_t x_bits) const {
    A a;
    a.x_bits = x_bits, a.scale_x = static_cast<float>(scale("scale_x"));
    return a;
  }
  template <class A>
  A with_weight() const {
    A a = with_x<A>(bits("data_bits"));
    a.w_bits = bits("parameter_bits"), a.scale_w = static_cast<float>(scale("scale_w"));
    return a;
  }
  double weighted_steps() const { return scale("scale_x") * scale("scale_w"); }

  On on;
  const NodeId node;

 private:
  const ir::AttrValue* given(std::string_view name) const {
    const auto& extra = g_[node].extra;
    return extra ? ir::find_attr(*extra, name) : nullptr;
  }

  Graph& g_;
};

template <class A>
ValueId conv(Old& o) {
  A a = o.with_weight<A>();
  a.kernel_shape = o.integers("kernel_shape"), a.strides = o.integers("strides"), a.pads = o.integers("pads");
  a.dilations = o.integers("dilations"), a.group = o.integer("group");
  if constexpr (requires { a.output_padding; })
    if (o.has("output_padding")) a.output_padding = o.integers("output_padding");
  return o.product(std::move(a), o.inputs(3), o.weighted_steps());
}
template <class A, size_t Operands>
ValueId linear(Old& o) {  // running means and variances come after the operands
  return o.product(o.with_weight<A>(), o.inputs(Operands), o.weighted_steps());
}
ValueId average(Old& o) {
  auto a = o.with_x<op::linger::QAvgPool2d>(o.bits("data_bits"));
  a.kernel_shape = o.integers("kernel_shape"), a.strides = o.integers("strides"), a.pads = o.integers("pads");
  a.ceil_mode = o.integer("ceil_mode", 0), a.count_include_pad = 1, a.divisor_override = -1;
  return o.product(std::move(a), o.inputs(1), o.scale("scale_x"));
}

template <class A>
A pair(const Old& o, int64_t bits) {
  A a = o.with_x<A>(bits);
  a.y_bits = bits, a.scale_y = static_cast<float>(o.scale("scale_y"));
  return a;
}
ValueId bmm(Old& o) {
  return o.product(pair<op::linger::QBmm>(o, o.bits("data_bits")), {o.in(0), o.in(1)},
                   o.scale("scale_x") * o.scale("scale_y"));
}
// Both operands on the output's scale; a number that the model was written with stays as it is.
template <class A, ValueId (On::*Real)(ValueId, ValueId)>
ValueId elementwise(Old& o) {
  if (o.is_float(0) || o.is_float(1)) {
    const ValueId x = o.real(0, o.scale("scale_x")), y = o.real(1, o.scale("scale_y"));
    return o.quantised((o.on.*Real)(x, y), o.scale("scale_o"));
  }
  A a = pair<A>(o, byte);
  a.o_bits = byte, a.scale_o = static_cast<float>(o.scale("scale_o"));
  return o.on.make(std::move(a), {o.in(0), o.in(1)}, 1)[0];
}
ValueId divide(Old& o) {
  const ValueId x = o.real(0, o.scale("scale_x")), y = o.real(1, o.scale("scale_y"));
  return o.quantised(o.on.Div(x, y), o.scale("scale_o"));
}
ValueId larger(Old& o) {
  const ValueId x = o.real(0, o.scale("scale_x")), y = o.real(1, o.scale("scale_y"));
  const ValueId both[] = {x, y};
  return o.quantised(o.on.Max(both), o.scale("scale_o"));
}
ValueId sum(Old& o) {
  const ValueId axes = o.has("dims") ? o.on.ints(o.integers("dims")) : ValueId();
  return o.quantised(o.on.ReduceSum(o.real(0, o.scale("scale_x")), axes, {.keepdims = 0}), o.scale("scale_o"));
}
ValueId variance(Old& o) {
  const int64_t axis = o.integer("dim");
  const auto size = o.known_size(o.in(0), axis);
  const bool unbiased = o.integer("unbiased", 1) != 0;
  if (unbiased && (!size || *size < 2)) o.refuse("the size of its axis must be known, and above 1");
  const ValueId x = o.real(0, o.scale("scale_x")), axes = o.on.ints({axis});
  const ValueId off = o.on.Sub(x, o.on.ReduceMean(x, axes, {.keepdims = 1}));
  ValueId mean = o.on.ReduceMean(o.on.Mul(off, off), axes, {.keepdims = 0});
  if (unbiased)
    mean = o.on.Mul(mean, o.on.number(static_cast<double>(*size) / static_cast<double>(*size - 1), DType::f32));
  return o.quantised(mean, o.scale("scale_o"), byte, "round");
}
ValueId clamp(Old& o) {
  const ValueId low = o.on.number(o.number("min"), DType::f32), high = o.on.number(o.number("max"), DType::f32);
  return o.quantised(o.on.Clip(o.real(0, o.scale("scale_x")), low, high), o.scale("scale_o"));
}
ValueId join(Old& o) {
  std::vector<ValueId> parts;
  const double to = o.scale("scale_o");
  for (size_t i = 0; i < o.inputs(SIZE_MAX).size(); ++i)
    parts.push_back(o.quantised(o.real(i, o.scale(cat("scale_x_", i))), to));
  return o.on.Concat(parts, {.axis = o.integer("dim")});
}
ValueId pad(Old& o) {
  const ValueId value = o.inputs(3).size() > 2 ? o.inputs(3)[2] : ValueId();
  if (value && ir::is_float(o.on.dtype(value))) {
    const auto v = o.on.graph().constant(value);
    if (!v || v->count() != 1 || v->double_at(0) != 0) o.refuse("it is filled with numbers other than 0");
  }
  return o.on.Pad(o.in(0), o.in(1), {}, {}, {});
}

template <class A>
ValueId activation(Old& o) {
  A a = o.with_x<A>(byte);
  a.o_bits = byte, a.scale_o = static_cast<float>(o.scale("scale_o"));
  return o.on.make(std::move(a), {o.in(0)}, 1)[0];
}
ValueId softmax(Old& o) {
  auto a = o.with_x<op::linger::QSoftmax>(o.bits("data_bits"));
  a.axis = o.integer("dim");
  if (!o.has("o_bits")) return o.on.Softmax(o.real(0, o.scale("scale_x")), {.axis = a.axis});
  return o.product(std::move(a), o.inputs(1), 1);
}
ValueId log_softmax(Old& o) {
  const ValueId y = o.on.LogSoftmax(o.real(0, o.scale("scale_x")), {.axis = o.integer("dim")});
  return o.has("o_bits") ? o.quantised(y, o.scale("scale_o"), o.bits("o_bits")) : y;
}
// Normalised numbers are in steps of 2^-10 there.
ValueId layer_norm(Old& o) {
  auto a = o.with_weight<op::linger::QLayerNorm>();
  a.scale_y_normal = 1024;
  return o.product(std::move(a), o.inputs(3), o.weighted_steps());
}
ValueId gather(Old& o) {
  op::linger::Gather a;
  a.w_bits = o.bits("parameter_bits"), a.scale_w = static_cast<float>(o.scale("scale_w"));
  return o.on.make(std::move(a), {o.in(0), o.in(1)}, 1)[0];
}
ValueId shuffle(Old& o) {
  const int64_t groups = o.integer("groups");
  const auto channels = o.known_size(o.in(0), 1);
  if (!channels || groups < 1 || *channels % groups != 0)
    o.refuse("the number of channels must be known, and groups must divide it");
  const ValueId parts = o.on.Reshape(o.in(0), o.on.ints({0, groups, *channels / groups, -1}));
  const ValueId moved = o.on.Transpose(parts, {.perm = std::vector<int64_t>{0, 2, 1, 3}});
  return o.on.Reshape(moved, o.on.Shape(o.in(0)));
}

ValueId quant(Old& o) { return o.quantised(o.in(0), o.scale("scale_x"), o.bits("data_bits")); }
ValueId dequant(Old& o) { return o.real(0, o.scale(o.has("scale_o") ? "scale_o" : "scale_x")); }
ValueId requant(Old& o) { return o.quantised(o.real(0, o.scale("scale_x")), o.scale("scale_o"), o.bits("o_bits")); }

struct Row {
  std::string_view op;
  ValueId (*write)(Old& o);
};
constexpr Row rows[] = {
    {"AvgPool2dInt", average},
    {"BatchNorm2dInt", linear<op::linger::QBatchNorm2d, 3>},
    {"BmmInt", bmm},
    {"Conv1dInt", conv<op::linger::QConv1d>},
    {"Conv2dInt", conv<op::linger::QConv2d>},
    {"ConvTranspose2dInt", conv<op::linger::QConvTranspose2d>},
    {"Dequant", dequant},
    {"Gather", gather},
    {"LayerNormInt", layer_norm},
    {"LinearInt", linear<op::linger::QLinear, 3>},
    {"LogSoftmaxInt", log_softmax},
    {"Quant", quant},
    {"Requant", requant},
    {"ShuffleChannel", shuffle},
    {"SoftmaxInt", softmax},
    {"iqAdd", elementwise<op::linger::QAdd, &On::Add>},
    {"iqCat", join},
    {"iqClamp", clamp},
    {"iqDiv", divide},
    {"iqMax", larger},
    {"iqMul", elementwise<op::linger::QMul, &On::Mul>},
    {"iqPad", pad},
    {"iqSigmoid", activation<op::linger::QSigmoid>},
    {"iqSum", sum},
    {"iqTanh", activation<op::linger::QTanh>},
    {"iqVar", variance},
};

class Upgrader {
 public:
  explicit Upgrader(Graph& g) : g_(g) {}

  void region(RegionId r) {
    for (const NodeId n : g_.nodes(r)) {
      for (const RegionId body : std::vector<RegionId>(g_[n].regions))
        if (body) region(body);
      if (g_[n].op->domain == linger1_domain) replace(n);
      else if (done > 0 && g_[n].regions.empty() && !g_[n].op->is_opaque()) ops::infer_node(g_, n);
    }
  }

  size_t done = 0;

 private:
  void replace(NodeId n) {
    Old old(g_, n);
    const auto row =
        std::find_if(std::begin(rows), std::end(rows), [&](const Row& r) { return r.op == g_[n].op->name; });
    if (row == std::end(rows)) old.refuse("there is no form of this operator in linger 3");
    if (g_[n].outputs.size() != 1) old.refuse(cat("it has ", g_[n].outputs.size(), " outputs instead of one"));
    const ValueId was = g_[n].outputs[0];
    ValueId now = row->write(old);
    if (g_[now].kind != Value::Kind::node_output || !g_[now].name.empty()) now = old.on.Identity(now);
    std::string name = g_[was].name;
    g_.label(was).name.clear();
    g_.replace_uses(was, now);
    g_.label(now).name = std::move(name);
    if (!g_[n].name.empty() && g_[g_[now].def].name.empty()) {
      std::string of_node = g_[n].name;
      g_.set_name(n, "");
      g_.set_name(g_[now].def, std::move(of_node));
    }
    g_.erase(n);
    ++done;
  }

  Graph& g_;
};

}  // namespace

size_t upgrade_linger(Model& m) {
  bool any = false;
  for (uint32_t i = 0; i < m.graph.node_capacity() && !any; ++i)
    any = !m.graph[NodeId(i)].dead && m.graph[NodeId(i)].op->domain == linger1_domain;
  if (!any) return 0;
  ops::forget_declared(m.graph);
  Upgrader u(m.graph);
  u.region(m.graph.main());
  m.opsets.erase(std::string(linger1_domain));
  m.opsets.emplace(std::string(ops::linger::domain), 1);
  ops::infer(m.graph, m.functions);
  return u.done;
}

}  // namespace cameo::passes
