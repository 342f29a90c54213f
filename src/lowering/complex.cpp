#include "lowering/complex.h"

#include <algorithm>

#include "kernels/carrier.h"
#include "lowering/forms.h"

namespace cameo::lowering {

namespace {

constexpr std::string_view marker_domain = "ai.cameo.complex";

DType complex_type(DType real) { return real == DType::f64 ? DType::c128 : DType::c64; }
const OpInfo& pair_marker() {
  static const OpInfo& op = opaque_op(marker_domain, "Pair");
  return op;
}
const OpInfo& parts_marker() {
  static const OpInfo& op = opaque_op(marker_domain, "Parts");
  return op;
}

V mark(Lower& on, const OpInfo& op, std::vector<ValueId> inputs, DType real, Dims shape) {
  const NodeId n = on.graph().add_node(on.region(), op, nullptr, std::move(inputs), 1);
  const V z = on.graph()[n].outputs[0];
  on.graph().fact(z).type = Type::tensor(complex_type(real), std::move(shape));
  return z;
}

const Node* marker_of(Lower& on, V z) {
  const auto& v = on.graph()[z.id];
  if (v.kind != Value::Kind::node_output) return nullptr;
  const Node& n = on.graph()[v.def];
  return n.op->domain == marker_domain ? &n : nullptr;
}

// The same bytes as reals: both parts, or one of them.
V real_weight(Lower& on, V z, int part) {
  const auto& stored = on.graph()[z.id].weight;
  if (!stored) unsupported("a complex tensor that a loop or a branch carries");
  const Tensor dense = stored->dense();
  Weight w = Weight::of(Tensor(real_type(dense.dtype()), {dense.count() * 2}, dense.bytes()));
  w.shape = dense.shape();
  w.strides.assign(w.shape.size(), 2);
  for (size_t i = w.shape.size(); i-- > 1;) w.strides[i - 1] = w.strides[i] * w.shape[i];
  if (part < 0) w.shape.push_back(2), w.strides.push_back(1);
  else w.start = part;
  return on.weight_value(std::move(w), z);
}

using Attrs = std::shared_ptr<const void>;
using Ids = std::vector<ValueId>;

struct Call {
  Lower& on;
  const OpDef& op;
  const Attrs& attrs;
  const Ids& inputs;
  size_t outputs;

  bool complex(size_t i) const { return i < inputs.size() && inputs[i] && is_complex(on.dtype(inputs[i])); }
  V again(Ids in) const { return on.emit(op, attrs, std::move(in), 1)[0]; }
};

V real_sum(Lower& on, V a, V b) { return !a.valid() ? b : !b.valid() ? a : V(on.Add(a, b)); }
V real_difference(Lower& on, V a, V b) { return !b.valid() ? a : !a.valid() ? V(on.Neg(b)) : V(on.Sub(a, b)); }

// Operators that act on both parts alike: those that move elements, and sums.
Ids on_each_part(const Call& c) {
  std::vector<ComplexParts> parts(c.inputs.size());
  bool real = true;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    if (!c.complex(i)) continue;
    parts[i] = parts_of(c.on, c.inputs[i]);
    real = real && !parts[i].im.valid();
  }
  Ids re = c.inputs, im = c.inputs;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    if (!c.complex(i)) continue;
    re[i] = parts[i].re;
    if (!real) im[i] = imaginary_of(c.on, parts[i]);
  }
  const Ids res = c.on.emit(c.op, c.attrs, re, c.outputs),
            ims = real ? Ids(res.size()) : c.on.emit(c.op, c.attrs, im, c.outputs);
  Ids out;
  for (size_t i = 0; i < res.size(); ++i) out.push_back(complex_of_parts(c.on, {res[i], ims[i]}));
  return out;
}

// Products: linear in each of the first two operands; a third is added.
Ids product(const Call& c) {
  const ComplexParts a = parts_of(c.on, c.inputs[0]), b = parts_of(c.on, c.inputs[1]);
  const bool added = c.inputs.size() > 2 && c.inputs[2];
  const ComplexParts bias = added ? parts_of(c.on, c.inputs[2]) : ComplexParts{};
  const auto times = [&](V x, V y, V plus) -> V {
    if (!x.valid() || !y.valid()) return {};
    return c.again(plus.valid() ? Ids{x, y, plus} : Ids{x, y});
  };
  const V re = real_difference(c.on, times(a.re, b.re, bias.re), times(a.im, b.im, {}));
  const V plus = added ? imaginary_of(c.on, bias) : V();
  const V first = times(a.re, b.im, plus), second = times(a.im, b.re, first.valid() ? V() : plus);
  return {complex_of_parts(c.on, {re, real_sum(c.on, first, second)})};
}

V square_size(Lower& on, const ComplexParts& p) {
  return real_sum(on, on.Mul(p.re, p.re), p.im.valid() ? V(on.Mul(p.im, p.im)) : V());
}

ComplexParts multiplied(Lower& on, const ComplexParts& a, const ComplexParts& b) {
  const auto times = [&](V x, V y) { return x.valid() && y.valid() ? V(on.Mul(x, y)) : V(); };
  return {real_difference(on, times(a.re, b.re), times(a.im, b.im)),
          real_sum(on, times(a.re, b.im), times(a.im, b.re))};
}
ComplexParts divided(Lower& on, const ComplexParts& a, const ComplexParts& b) {
  if (!b.im.valid()) return {on.Div(a.re, b.re), a.im.valid() ? V(on.Div(a.im, b.re)) : V()};
  const ComplexParts top = multiplied(on, a, {b.re, on.Neg(b.im)});
  const V size = square_size(on, b);
  return {on.Div(top.re, size), on.Div(top.im, size)};
}

V absolute(Lower& on, V z) {
  if (const Node* n = marker_of(on, z); n && n->op == &pair_marker())
    return on.ReduceL2(n->inputs[0], on.ints({on.rank(z)}), {.keepdims = 0});
  const ComplexParts p = parts_of(on, z);
  return p.im.valid() ? V(on.Sqrt(square_size(on, p))) : V(on.Abs(p.re));
}
V phase(Lower& on, const ComplexParts& p) {  // atan2(im, re)
  const V zero = on.number_like(0, p.re), half = on.number_like(1.5707963267948966, p.re),
          full = on.number_like(3.141592653589793, p.re);
  const V slope = on.Atan(on.Div(p.im, p.re));
  const V down = on.Less(p.im, zero), left = on.Less(p.re, zero);
  const V turned = on.Add(slope, on.Where(left, on.Where(down, on.Neg(full), full), zero));
  const V upright = on.Where(down, on.Neg(half), on.Where(on.Greater(p.im, zero), half, zero));
  return on.Where(on.Equal(p.re, zero), upright, turned);
}

ComplexParts exponential(Lower& on, const ComplexParts& p) {
  const V size = on.Exp(p.re);
  return {on.Mul(size, on.Cos(p.im)), on.Mul(size, on.Sin(p.im))};
}
ComplexParts logarithm(Lower& on, const ComplexParts& p) {
  return {on.Mul(on.Log(square_size(on, p)), on.number_like(0.5, p.re)), phase(on, p)};
}
ComplexParts square_root(Lower& on, const ComplexParts& p) {
  const V size = on.Sqrt(square_size(on, p)), half = on.number_like(0.5, p.re), zero = on.number_like(0, p.re);
  const auto root = [&](V x) { return V(on.Sqrt(on.Mul(on.Max(Ids{x, zero}), half))); };
  const V im = root(on.Sub(size, p.re));
  return {root(on.Add(size, p.re)), on.Where(on.Less(p.im, zero), on.Neg(im), im)};
}
ComplexParts hyperbolic_tangent(Lower& on, const ComplexParts& p) {
  const V two = on.number_like(2, p.re), re = on.Mul(two, p.re), im = on.Mul(two, p.im),
          below = on.Add(on.Cosh(re), on.Cos(im));
  return {on.Div(on.Sinh(re), below), on.Div(on.Sin(im), below)};
}
ComplexParts logistic(Lower& on, const ComplexParts& p) {
  const ComplexParts e = exponential(on, {on.Neg(p.re), on.Neg(p.im)});
  return divided(on, {on.number_like(1, p.re), {}}, {on.Add(e.re, on.number_like(1, p.re)), e.im});
}

struct Form {
  std::string_view name;
  ComplexParts (*of)(Lower& on, const ComplexParts& p);  // im is there
};
constexpr Form functions[] = {
    {"Exp", exponential},
    {"Log", logarithm},
    {"Sqrt", square_root},
    {"Tanh", hyperbolic_tangent},
    {"Sigmoid", logistic},
    {"Swish", [](Lower& on, const ComplexParts& p) { return multiplied(on, p, logistic(on, p)); }},
    {"Reciprocal",
     [](Lower& on, const ComplexParts& p) {
       return divided(on, {on.number_like(1, p.re), {}}, p);
     }},
    {"Sin",
     [](Lower& on, const ComplexParts& p) {
       return ComplexParts{on.Mul(on.Sin(p.re), on.Cosh(p.im)), on.Mul(on.Cos(p.re), on.Sinh(p.im))};
     }},
    {"Cos",
     [](Lower& on, const ComplexParts& p) {
       return ComplexParts{on.Mul(on.Cos(p.re), on.Cosh(p.im)), on.Neg(on.Mul(on.Sin(p.re), on.Sinh(p.im)))};
     }},
    {"Sinh",
     [](Lower& on, const ComplexParts& p) {
       return ComplexParts{on.Mul(on.Sinh(p.re), on.Cos(p.im)), on.Mul(on.Cosh(p.re), on.Sin(p.im))};
     }},
    {"Cosh",
     [](Lower& on, const ComplexParts& p) {
       return ComplexParts{on.Mul(on.Cosh(p.re), on.Cos(p.im)), on.Mul(on.Sinh(p.re), on.Sin(p.im))};
     }},
};

V power(Lower& on, V base, V exponent) {
  if (const auto* n = marker_of(on, exponent); n && n->op == &parts_marker() && !n->inputs[1])
    if (const Tensor* known = on.fact(n->inputs[0]).tensor(); known && known->count() == 1 && known->double_at(0) == 2)
      return on.Mul(base, base);
  return on.Exp(on.Mul(exponent, on.Log(base)));
}

Ids cast(const Call& c) {
  const DType to = dtype_from_number(static_cast<const op::Cast*>(c.attrs.get())->to).value_or(DType::undefined);
  const ComplexParts p = parts_of(c.on, c.inputs[0]);
  if (is_complex(to))
    return {complex_of_parts(c.on, {c.on.to(p.re, real_type(to)), p.im.valid() ? c.on.to(p.im, real_type(to)) : V()})};
  if (to != DType::boolean) unsupported("complex numbers where real ones are needed", "take .real or .abs() first");
  const V re = c.on.to(p.re, to);
  return {p.im.valid() ? V(c.on.Or(re, c.on.to(p.im, to))) : re};
}

constexpr std::string_view part_wise[] = {
    "Add",       "Compress", "Concat", "CumSum",  "Expand",     "Flatten",   "Gather",    "GatherElements",
    "GatherND",  "Identity", "Neg",    "Pad",     "ReduceMean", "ReduceSum", "Reshape",   "ScatterElements",
    "ScatterND", "Slice",    "Split",  "Squeeze", "Sub",        "Tile",      "Transpose", "Trilu",
    "Unsqueeze", "Where"};
constexpr std::string_view products[] = {"Mul", "MatMul", "Einsum", "Conv", "ConvTranspose", "Gemm"};
template <size_t N>
bool among(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

bool multiplies(const Call& c) {
  if (c.op.name == "ScatterND") return static_cast<const op::ScatterND*>(c.attrs.get())->reduction == "mul";
  return c.op.name == "ScatterElements" && static_cast<const op::ScatterElements*>(c.attrs.get())->reduction == "mul";
}

}  // namespace

DType real_type(DType t) { return t == DType::c128 ? DType::f64 : DType::f32; }

std::complex<double> complex_at(const Tensor& t, int64_t i) {
  const Tensor reals(real_type(t.dtype()), {t.count() * 2}, t.bytes());
  return {reals.double_at(2 * i), reals.double_at(2 * i + 1)};
}

V complex_of_pair(Lower& on, V pair) {
  if (!on.is_float(pair)) unsupported("complex numbers made of integers");
  on.assume_equal(on.dim(pair, -1), Dim(2), "view_as_complex");
  Dims shape = on.shape(pair);
  shape.pop_back();
  return mark(on, pair_marker(), {pair}, on.dtype(pair), std::move(shape));
}

V complex_of_parts(Lower& on, ComplexParts p) {
  return mark(on, parts_marker(), {p.re, p.im}, on.dtype(p.re), on.shape(p.re));
}

V imaginary_of(Lower& on, const ComplexParts& p) { return p.im.valid() ? p.im : on.zeros_like(p.re); }

V pair_of(Lower& on, V z) {
  const Node* n = marker_of(on, z);
  if (!n) return real_weight(on, z, -1);
  if (n->op == &pair_marker()) return n->inputs[0];
  const ComplexParts p{n->inputs[0], n->inputs[1]};
  const int64_t last = on.rank(z);
  return on.concat({on.unsqueeze(p.re, {last}), on.unsqueeze(imaginary_of(on, p), {last})}, last);
}

ComplexParts parts_of(Lower& on, V z) {
  if (!is_complex(on.dtype(z))) return {z, {}};
  const Node* n = marker_of(on, z);
  if (!n) return {real_weight(on, z, 0), real_weight(on, z, 1)};
  if (n->op == &parts_marker()) return {n->inputs[0], n->inputs[1]};
  const V pair = n->inputs[0];
  const int64_t last = on.rank(z);
  const V re = on.gather_scalar(pair, last, Dim(0)), im = on.gather_scalar(pair, last, Dim(1));
  return {re, im};
}

V conjugate(Lower& on, V z) {
  const ComplexParts p = parts_of(on, z);
  return p.im.valid() ? complex_of_parts(on, {p.re, on.Neg(p.im)}) : z;
}

V phase_of(Lower& on, V z) {
  const ComplexParts p = parts_of(on, z);
  return phase(on, {p.re, imaginary_of(on, p)});
}

V complex_number(Lower& on, std::complex<double> v, DType t) {
  const V re = on.number(v.real(), real_type(t));
  return complex_of_parts(on, {re, v.imag() == 0 ? V() : on.number(v.imag(), real_type(t))});
}

std::vector<ValueId> emit_complex(Lower& on, const OpDef& op, const Attrs& attrs, const Ids& inputs, size_t outputs) {
  const Call c{on, op, attrs, inputs, outputs};
  if (op.name == "Cast") return cast(c);
  if (op.name == "Shape" || op.name == "Size") return {c.again({parts_of(on, inputs[0]).re})};
  if (among(part_wise, op.name) && !multiplies(c) && !(op.name == "Where" && c.complex(0))) return on_each_part(c);
  if (among(products, op.name) && inputs.size() >= 2) return product(c);
  if (op.name == "Div") return {complex_of_parts(on, divided(on, parts_of(on, inputs[0]), parts_of(on, inputs[1])))};
  if (op.name == "Abs") return {absolute(on, inputs[0])};
  if (op.name == "Pow") return {power(on, inputs[0], inputs[1])};
  if (op.name.starts_with("ReduceL") || op.name == "ReduceSumSquare") {
    Ids sizes = inputs;
    sizes[0] = absolute(on, inputs[0]);
    return {c.again(sizes)};
  }
  if (op.name == "Equal" || op.name == "IsNaN") {
    Ids re = inputs, im = inputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const ComplexParts p = parts_of(on, inputs[i]);
      re[i] = p.re, im[i] = imaginary_of(on, p);
    }
    return {op.name == "Equal" ? on.And(c.again(re), c.again(im)) : on.Or(c.again(re), c.again(im))};
  }
  const auto* form =
      std::find_if(std::begin(functions), std::end(functions), [&](const Form& f) { return f.name == op.name; });
  if (form == std::end(functions))
    unsupported(cat(op.name, " of complex numbers"),
                "ONNX's runtimes have no complex tensors; Cameo says them as pairs of reals where it can");
  ComplexParts p = parts_of(on, inputs[0]);
  p.im = imaginary_of(on, p);
  return {complex_of_parts(on, form->of(on, p))};
}

}  // namespace cameo::lowering
