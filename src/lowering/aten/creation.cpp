// Tensors from nothing, or from another's shape.
#include "kernels/carrier.h"
#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo {

namespace {

V filled(Lower& on, const Dims& sizes, const Num& value, const Opt<DType>& t) { return on.full(sizes, value, t.value_or(default_float)); }
V zeros(Lower& on, Dims sizes, Opt<DType> t) { return filled(on, sizes, Num(int64_t{0}), t); }
V ones(Lower& on, Dims sizes, Opt<DType> t) { return filled(on, sizes, Num(int64_t{1}), t); }
V like(Lower& on, V x, const Num& value, const Opt<DType>& t) { return on.full(on.shape(x), value, t.value_or(on.dtype(x))); }
V new_of(Lower& on, V x, const Dims& sizes, const Num& value, const Opt<DType>& t) { return on.full(sizes, value, t.value_or(on.dtype(x))); }

DType natural(const Num& n) { return n.is_complex() ? DType::c64 : n.is_float() ? default_float : n.is_bool() ? DType::boolean : DType::i64; }

V arange(Lower& on, const Num& start, const Num& end, const Num& step, const Opt<DType>& t) {
  const bool whole = start.is_integer() && end.is_integer() && step.is_integer();
  const DType out = t ? *t : whole ? DType::i64 : default_float;
  if (whole) {
    const V range = on.Range(on.scalar(start, DType::i64), on.scalar(end, DType::i64), on.scalar(step, DType::i64));
    const auto *a = start.arg().as<Dim>(), *b = end.arg().as<Dim>(), *c = step.arg().as<Dim>();
    if (a && b && c && c->is(1) && on.graph()[range].kind == Value::Kind::node_output) on.graph().fact(range).type.shape = Dims{*b - *a};
    return on.to(range, out);
  }
  // In double: the count must be that of torch, which computes it there too.
  return on.to(on.Range(on.scalar(start, DType::f64), on.scalar(end, DType::f64), on.scalar(step, DType::f64)), out);
}

V linspace(Lower& on, double start, double end, int64_t steps, Opt<DType> t) {
  std::vector<double> values;
  for (int64_t i = 0; i < steps; ++i) values.push_back(steps == 1 ? start : i < steps / 2 ? start + (end - start) / static_cast<double>(steps - 1) * static_cast<double>(i) : end - (end - start) / static_cast<double>(steps - 1) * static_cast<double>(steps - 1 - i));
  return on.constant(store(t.value_or(default_float), {steps}, values));
}

V eye(Lower& on, Dim n, Dim m, Opt<DType> t) {
  const DType out = t.value_or(default_float);
  return on.EyeLike(on.full({n, m}, Num(int64_t{0}), out), {.dtype = static_cast<int64_t>(out)});
}

constexpr Row table[] = {
    {"aten::zeros", fn<zeros>}, {"aten::ones", fn<ones>}, {"aten::empty.memory_format", fn<zeros>},
    {"aten::full", [](Lower& on, Dims sizes, Num v, Opt<DType> t) { return on.full(sizes, v, t.value_or(natural(v))); }},
    {"aten::scalar_tensor", [](Lower& on, Num v, Opt<DType> t) { return on.scalar(v, t.value_or(default_float)); }},
    {"aten::zeros_like", [](Lower& on, V x, Opt<DType> t) { return like(on, x, Num(int64_t{0}), t); }},
    {"aten::ones_like", [](Lower& on, V x, Opt<DType> t) { return like(on, x, Num(int64_t{1}), t); }},
    {"aten::empty_like", [](Lower& on, V x, Opt<DType> t) { return like(on, x, Num(int64_t{0}), t); }},
    {"aten::full_like", [](Lower& on, V x, Num v, Opt<DType> t) { return like(on, x, v, t); }},
    {"aten::new_zeros", [](Lower& on, V x, Dims sizes, Opt<DType> t) { return new_of(on, x, sizes, Num(int64_t{0}), t); }},
    {"aten::new_ones", [](Lower& on, V x, Dims sizes, Opt<DType> t) { return new_of(on, x, sizes, Num(int64_t{1}), t); }},
    {"aten::new_empty", [](Lower& on, V x, Dims sizes, Opt<DType> t) { return new_of(on, x, sizes, Num(int64_t{0}), t); }},
    {"aten::new_full", [](Lower& on, V x, Dims sizes, Num v, Opt<DType> t) { return new_of(on, x, sizes, v, t); }},
    {"aten::arange", [](Lower& on, Num end, Opt<DType> t) { return arange(on, Num(int64_t{0}), end, Num(int64_t{1}), t); }},
    {"aten::arange.start", [](Lower& on, Num start, Num end, Opt<DType> t) { return arange(on, start, end, Num(int64_t{1}), t); }},
    {"aten::arange.start_step", [](Lower& on, Num start, Num end, Num step, Opt<DType> t) { return arange(on, start, end, step, t); }},
    {"aten::linspace", fn<linspace>},
    {"aten::eye", [](Lower& on, Dim n, Opt<DType> t) { return eye(on, n, n, t); }},
    {"aten::eye.m", [](Lower& on, Dim n, Dim m, Opt<DType> t) { return eye(on, n, m, t); }},
    {"aten::_shape_as_tensor", [](Lower& on, V x) { return on.int_vector(on.shape(x)); }},
};

}  // namespace

std::span<const Row> creation_rows() { return table; }

}  // namespace cameo
