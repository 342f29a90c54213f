// torch, Creation Ops.
#include "kernels/carrier.h"
#include "lowering/aten/linalg/matrix.h"
#include "lowering/aten/torch/indexing.h"
#include "lowering/complex.h"
#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

V from_parts(Lower& on, V re, V im) {
  const Dims shape = broadcast_shapes(on.shape(re), on.shape(im));
  return complex_of_parts(on, {on.expand(re, shape), on.expand(im, shape)});
}

V polar(Lower& on, V size, V angle) { return from_parts(on, on.Mul(size, on.Cos(angle)), on.Mul(size, on.Sin(angle))); }

V filled(Lower& on, const Dims& sizes, const Num& value, const Opt<DType>& t) {
  return on.full(sizes, value, t.value_or(default_float));
}

V zeros(Lower& on, Dims sizes, Opt<DType> t) { return filled(on, sizes, Num(int64_t{0}), t); }

V ones(Lower& on, Dims sizes, Opt<DType> t) { return filled(on, sizes, Num(int64_t{1}), t); }

V like(Lower& on, V x, const Num& value, const Opt<DType>& t) {
  return on.full(on.shape(x), value, t.value_or(on.dtype(x)));
}

DType natural(const Num& n) {
  return n.is_complex() ? DType::c64 : n.is_float() ? default_float : n.is_bool() ? DType::boolean : DType::i64;
}

V arange(Lower& on, const Num& start, const Num& end, const Num& step, const Opt<DType>& t) {
  const bool whole = start.is_integer() && end.is_integer() && step.is_integer();
  const DType out = t ? *t : whole ? DType::i64 : default_float;
  if (whole) {
    const V range = on.Range(on.scalar(start, DType::i64), on.scalar(end, DType::i64), on.scalar(step, DType::i64));
    const auto *a = start.arg().as<Dim>(), *b = end.arg().as<Dim>(), *c = step.arg().as<Dim>();
    if (a && b && c && c->is(1) && on.graph()[range].kind == Value::Kind::node_output)
      on.graph().fact(range).type.shape = Dims{*b - *a};
    return on.to(range, out);
  }
  // In double: the count must be that of torch, which computes it there too.
  return on.to(on.Range(on.scalar(start, DType::f64), on.scalar(end, DType::f64), on.scalar(step, DType::f64)), out);
}

V known_linspace(Lower& on, double start, double end, int64_t steps, const Opt<DType>& t) {
  constexpr int64_t most = 1 << 26;
  if (steps < 0 || steps > most) unsupported(cat(steps, " numbers in equal steps"));
  std::vector<double> values;
  for (int64_t i = 0; i < steps; ++i)
    values.push_back(steps == 1 ? start
                     : i < steps / 2
                         ? start + (end - start) / static_cast<double>(steps - 1) * static_cast<double>(i)
                         : end - (end - start) / static_cast<double>(steps - 1) * static_cast<double>(steps - 1 - i));
  return on.constant(store(t.value_or(default_float), {steps}, values));
}

// The ends or the count depend on data. As PyTorch does, the second half is counted from the end.
V staged_linspace(Lower& on, V start, V end, Dim steps, const Opt<DType>& t) {
  start = on.to(start, DType::f64), end = on.to(end, DType::f64);
  const auto float_of = [&](Dim d) { return on.to(on.int_scalar(d), DType::f64); };
  const V each = on.Div(on.Sub(end, start), float_of(max(steps - Dim(1), Dim(1)))), i = iota(on, steps),
          at = on.to(i, DType::f64);
  const V up = on.Add(start, on.Mul(at, each));
  if (steps.is_literal()) return on.to(up, t.value_or(default_float));
  const V down = on.Sub(end, on.Mul(on.Sub(float_of(steps - Dim(1)), at), each));
  const V first_half = on.Or(on.Less(i, on.int_scalar(floor_div(steps, Dim(2)))), on.Equal(i, on.On::int_scalar(0)));
  return on.to(on.Where(first_half, up, down), t.value_or(default_float));
}

V linspace(Lower& on, Num start, Num end, Dim steps, Opt<DType> t) {
  if (steps.is_literal() && start.is_known() && end.is_known())
    return known_linspace(on, start.to_double(), end.to_double(), steps.literal(), t);
  return staged_linspace(on, on.scalar(start, DType::f64), on.scalar(end, DType::f64), steps, t);
}

V logspace(Lower& on, V start, V end, Dim steps, double base, Opt<DType> t) {
  return on.to(on.Pow(on.number(base, DType::f64), staged_linspace(on, start, end, steps, DType::f64)),
               t.value_or(default_float));
}

V heaviside(Lower& on, V x, V at_zero) {
  const V zero = on.number_like(0, x);
  return on.Where(on.Equal(x, zero), at_zero, on.to(on.Greater(x, zero), on.dtype(x)));
}

// The operand is memory in its order: staging sees to that.
V as_strided(Lower& on, V x, Dims sizes, Dims strides, Opt<Dim> offset) {
  return on.Gather(flat(on, x), strided_positions(on, sizes, strides, offset.value_or(Dim(0))), {.axis = 0});
}

constexpr Row table[] = {
    {"aten::zeros", fn<zeros>},
    {"aten::ones", fn<ones>},
    {"aten::empty.memory_format", fn<zeros>},
    {"aten::full",
     [](Lower& on, Dims sizes, Num v, Opt<DType> t) { return on.full(sizes, v, t.value_or(natural(v))); }},
    {"aten::scalar_tensor", [](Lower& on, Num v, Opt<DType> t) { return on.scalar(v, t.value_or(default_float)); }},
    {"aten::zeros_like", [](Lower& on, V x, Opt<DType> t) { return like(on, x, Num(int64_t{0}), t); }},
    {"aten::ones_like", [](Lower& on, V x, Opt<DType> t) { return like(on, x, Num(int64_t{1}), t); }},
    {"aten::empty_like", [](Lower& on, V x, Opt<DType> t) { return like(on, x, Num(int64_t{0}), t); }},
    {"aten::full_like", [](Lower& on, V x, Num v, Opt<DType> t) { return like(on, x, v, t); }},
    {"aten::arange",
     [](Lower& on, Num end, Opt<DType> t) { return arange(on, Num(int64_t{0}), end, Num(int64_t{1}), t); }},
    {"aten::arange.start",
     [](Lower& on, Num start, Num end, Opt<DType> t) { return arange(on, start, end, Num(int64_t{1}), t); }},
    {"aten::arange.start_step",
     [](Lower& on, Num start, Num end, Num step, Opt<DType> t) { return arange(on, start, end, step, t); }},
    {"aten::linspace", fn<linspace>},
    {"aten::linspace.Tensor_Tensor",
     [](Lower& on, V a, V b, Dim n, Opt<DType> t) { return staged_linspace(on, a, b, n, t); }},
    {"aten::linspace.Tensor_Scalar",
     [](Lower& on, V a, Num b, Dim n, Opt<DType> t) { return staged_linspace(on, a, on.scalar(b, DType::f64), n, t); }},
    {"aten::linspace.Scalar_Tensor",
     [](Lower& on, Num a, V b, Dim n, Opt<DType> t) { return staged_linspace(on, on.scalar(a, DType::f64), b, n, t); }},
    {"aten::logspace",
     [](Lower& on, Num a, Num b, Dim n, double base, Opt<DType> t) {
       return logspace(on, on.scalar(a, DType::f64), on.scalar(b, DType::f64), n, base, t);
     }},
    {"aten::logspace.Tensor_Tensor", fn<logspace>},
    {"aten::logspace.Tensor_Scalar",
     [](Lower& on, V a, Num b, Dim n, double base, Opt<DType> t) {
       return logspace(on, a, on.scalar(b, DType::f64), n, base, t);
     }},
    {"aten::logspace.Scalar_Tensor",
     [](Lower& on, Num a, V b, Dim n, double base, Opt<DType> t) {
       return logspace(on, on.scalar(a, DType::f64), b, n, base, t);
     }},
    {"aten::empty_strided", [](Lower& on, Dims sizes, Dims, Opt<DType> t) { return zeros(on, sizes, t); }},
    {"aten::empty_permuted", [](Lower& on, Dims sizes, Ints, Opt<DType> t) { return zeros(on, sizes, t); }},
    {"aten::eye", [](Lower& on, Dim n, Opt<DType> t) { return eye(on, n, n, t.value_or(default_float)); }},
    {"aten::eye.m", [](Lower& on, Dim n, Dim m, Opt<DType> t) { return eye(on, n, m, t.value_or(default_float)); }},
    {"aten::_shape_as_tensor", [](Lower& on, V x) { return on.int_vector(on.shape(x)); }},
    {"aten::_dim_arange", [](Lower& on, V x, int64_t dim) { return iota(on, on.dim(x, dim)); }},
    {"aten::complex", fn<from_parts>},
    {"aten::polar", fn<polar>},
    {"aten::heaviside", fn<heaviside>, promote(0, 1)},
    {"aten::as_strided", fn<as_strided>},
    {"aten::as_strided_copy", fn<as_strided>},
    {"aten::as_strided_scatter",
     [](Lower& on, V x, V src, Dims sizes, Dims strides, Opt<Dim> offset) {
       return flat_put(on, x, strided_positions(on, sizes, strides, offset.value_or(Dim(0))), src, "none");
     }},
};

}  // namespace

std::span<const Row> torch_creation_rows() { return table; }

}  // namespace cameo::lowering
