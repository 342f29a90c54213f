#include "lowering/forms.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ir/dim_view.h"
#include "lowering/emptiness.h"
#include "lowering/narrow.h"

namespace cameo::lowering {

Dim from_start(Lower& on, Dim v, Dim size) {
  const DimFacts& facts = on.graph().facts;
  if (v.is_literal()) return v.literal() < 0 ? size + v : v;
  if (range_of(v).lo.value_or(-1) >= 0 || facts.less(v, Dim(0)) == Answer::no) return v;
  if (facts.less(v, Dim(0)) == Answer::yes) return size + v;
  return v + size * min(max(v * -1, Dim(0)), Dim(1));  // size * [v < 0]
}

namespace {
Dim clamp_to(Lower& on, Dim v, Dim size) {
  if (v.is_literal() && v.literal() >= (int64_t{1} << 40)) return size;
  const Dim at = from_start(on, v, size);
  if (at != v || (v.is_literal() && v.literal() < 0)) v = max(at, Dim(0));  // of size 0, -1 stays -1
  if (on.graph().facts.less_equal(v, size) == Answer::yes) return v;
  if (on.graph().facts.less_equal(size, v) == Answer::yes) return size;
  return on.graph().facts.simplify(min(v, size));
}
}  // namespace

Span clamp_span(Lower& on, Dim size, const Opt<Dim>& start, const Opt<Dim>& end) {
  Span s{start ? clamp_to(on, *start, size) : Dim(0), end ? clamp_to(on, *end, size) : size};
  if (on.graph().facts.less_equal(s.start, s.end) != Answer::yes)
    s.end = on.graph().facts.simplify(max(s.start, s.end));
  return s;
}

Dim wrap_index(Lower& on, Dim size, Dim index) {
  if (index.is_literal() && index.literal() < 0 && size.is_literal()) return size + index;
  const DimFacts& facts = on.graph().facts;
  if (!index.is_literal() && facts.less(index, Dim(0)) == Answer::yes) return size + index;
  // Of numbers alone the shape rule says so. Where a branch's condition leaves an axis no element, nothing is at 0.
  const Dim place = index.is_literal() && index.literal() < 0 ? Dim(-1) - index : index;
  const Answer outside = index.is_literal() ? facts.less_equal(size, place) : facts.surely_less_equal(size, index);
  if (!(index.is_literal() && size.is_literal()) && outside == Answer::yes)
    throw error("infer.index", cat("index ", index.text(), " is outside an axis of ", size.text()));
  return index;
}

V narrowed(Lower& on, V x, int64_t dim, Dim start, Dim length) {
  const int64_t axis = on.axis(x, dim);
  const Dim size = on.dim(x, axis), first = from_start(on, start, size);
  if (on.graph().facts.surely_less(size, first + length) == Answer::yes)
    throw error("infer.size", cat("narrow takes the elements ", first.text(), " to ", (first + length).text(),
                                  " of an axis of ", size.text()));
  return on.slice(x, axis, first, first + length);
}

V put_slice(Lower& on, V x, int64_t axis, Dim start, Dim end, int64_t step, V value) {
  const Dim size = on.dim(x, axis);
  if (step == 1) {
    Vs parts;
    if (!start.is(0)) parts.push_back(on.slice(x, axis, Dim(0), start));
    parts.push_back(value);
    if (end != size) parts.push_back(on.slice(x, axis, end, size));
    return on.concat(parts, axis);
  }
  // Every step-th row: scattered along the axis, which is brought to the front.
  Ints perm = on.all_axes(x);
  std::rotate(perm.begin(), perm.begin() + axis, perm.begin() + axis + 1);
  Ints back(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) back[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  const V rows = on.Range(on.int_scalar(start), on.int_scalar(end), on.int_scalar(Dim(step)));
  const V put = on.ScatterND(on.transpose(x, perm), on.unsqueeze(rows, {1}), on.transpose(value, perm));
  return on.transpose(put, back);
}

V put_index(Lower& on, V x, int64_t axis, Dim index, V value) {
  const Dim i = from_start(on, index, on.dim(x, axis));
  return put_slice(on, x, axis, i, i + Dim(1), 1, on.unsqueeze(value, {axis}));
}

V expanded(Lower& on, V x, Dims sizes) {
  const size_t shift = sizes.size() - static_cast<size_t>(on.rank(x));
  for (size_t i = shift; i < sizes.size(); ++i)
    if (sizes[i].is(-1)) sizes[i] = on.shape(x)[i - shift];
  return on.expand(x, sizes);
}

Dims solve_sizes(Lower& on, V x, Dims sizes) {
  int64_t open = -1;
  Dim product(1);
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i].is(-1)) open = static_cast<int64_t>(i);
    else product = product * sizes[i];
  }
  const Dim total = element_count(on.shape(x));
  if (open >= 0)
    sizes[static_cast<size_t>(open)] = product.is(0) ? Dim(0) : on.graph().facts.simplify(floor_div(total, product));
  else on.assume_equal(product, total, "view");
  return sizes;
}

namespace {
// How many elements are reduced, where there may be none. The mean of nothing is NaN in PyTorch and not defined in
// ONNX, so that engines differ.
std::optional<Dim> count_if_maybe_none(Lower& on, V x, const Ints& axes) {
  Dim count(1);
  bool maybe_none = false;
  for (const int64_t a : axes) {
    const Dim d = on.dim(x, a);
    maybe_none = maybe_none || may_be_empty(on, d);
    count = count * d;
  }
  return maybe_none ? std::optional(count) : std::nullopt;
}
}  // namespace

V reduce(Lower& on, Reduce kind, V x, const Ints& axes, bool keepdim) {
  if (axes.empty() || on.rank(x) == 0) return x;
  const bool all = static_cast<int64_t>(axes.size()) == on.rank(x);
  const V list = all ? V() : V(on.ints(axes));
  const int64_t keep = keepdim;
  switch (kind) {
    case Reduce::sum: return on.ReduceSum(x, list, {.keepdims = keep});
    case Reduce::mean:
      if (const auto count = count_if_maybe_none(on, x, axes)) {
        const V total = on.ReduceSum(x, list, {.keepdims = keep});
        return on.Div(total, on.to(on.int_scalar(*count), on.dtype(x)));
      }
      return on.ReduceMean(x, list, {.keepdims = keep});
    case Reduce::max: return on.ReduceMax(x, list, {.keepdims = keep});
    case Reduce::min: return on.ReduceMin(x, list, {.keepdims = keep});
    case Reduce::prod: return on.ReduceProd(x, list, {.keepdims = keep});
    case Reduce::l1: return on.ReduceL1(x, list, {.keepdims = keep});
    case Reduce::l2: return on.ReduceL2(x, list, {.keepdims = keep});
    case Reduce::log_sum_exp: return on.ReduceLogSumExp(x, list, {.keepdims = keep});
    case Reduce::sum_square: return on.ReduceSumSquare(x, list, {.keepdims = keep});
  }
  return x;
}

V variance(Lower& on, V x, const Ints& axes, double correction, bool keepdim) {
  const V mean = reduce(on, Reduce::mean, x, axes, true);
  const V centred = on.Sub(x, mean);
  const V mean_square = reduce(on, Reduce::mean, on.Mul(centred, centred), axes, keepdim);
  if (correction == 0) return mean_square;
  Dim count(1);
  for (const int64_t a : axes) count = count * on.dim(x, a);
  // n / (n - correction), in the tensor's own type.
  if (count.is_literal()) {
    const auto n = static_cast<double>(count.literal());
    return on.Mul(mean_square, on.number(n / std::max(0.0, n - correction), on.dtype(x)));
  }
  const V n = on.to(on.int_scalar(count), on.dtype(x)), zero = on.number_like(0, x);
  const V left = on.Max(std::vector<ValueId>{on.Sub(n, on.number(correction, on.dtype(x))), zero});
  return on.Mul(mean_square, on.Div(n, left));
}

V matmul(Lower& on, V a, V b) { return on.MatMul(a, b); }

V linear(Lower& on, V x, V weight, const Opt<V>& bias) {
  // ONNX Runtime has a Gemm of floats only.
  if (on.is_float(x) && on.rank(x) == 2 && on.rank(weight) == 2)
    return on.Gemm(x, weight, bias ? bias->id : ValueId(), {.transB = 1});
  const V w = on.rank(weight) == 2 ? transposed_weight(on, weight) : weight;
  const V y = on.MatMul(x, w);
  return bias ? V(on.Add(y, *bias)) : y;
}

V vector_norm(Lower& on, V x, double p, const Ints& axes, bool keepdim) {
  if (!on.is_float(x)) x = on.to(x, default_float);
  const bool single = axes.empty() || on.rank(x) == 0;  // nothing to reduce, and still a size
  if (p == 2) return single ? V(on.Abs(x)) : reduce(on, Reduce::l2, x, axes, keepdim);
  if (p == 1) return single ? V(on.Abs(x)) : reduce(on, Reduce::l1, x, axes, keepdim);
  const V size = on.Abs(x);
  if (std::isinf(p)) return reduce(on, p > 0 ? Reduce::max : Reduce::min, size, axes, keepdim);
  if (p == 0) return reduce(on, Reduce::sum, on.to(on.to(x, DType::boolean), on.dtype(x)), axes, keepdim);
  return on.Pow(reduce(on, Reduce::sum, on.Pow(size, on.number(p, on.dtype(x))), axes, keepdim),
                on.number(1 / p, on.dtype(x)));
}

V iota(Lower& on, Dim n) {
  const V range = on.Range(on.On::int_scalar(0), on.int_scalar(n), on.On::int_scalar(1));
  if (on.graph()[range].kind == Value::Kind::node_output) on.graph().fact(range).type.shape = Dims{n};
  return range;
}

V flat(Lower& on, V x) { return on.reshape(x, {element_count(on.shape(x))}); }

V moved(Lower& on, V x, const Ints& from, const Ints& to) {
  if (on.rank(x) == 0) return x;
  const auto rank = static_cast<size_t>(on.rank(x));
  Ints perm(rank, -1);
  std::vector<bool> taken(rank, false);
  for (size_t i = 0; i < from.size(); ++i) {
    perm[static_cast<size_t>(on.axis(x, to[i]))] = on.axis(x, from[i]);
    taken[static_cast<size_t>(on.axis(x, from[i]))] = true;
  }
  size_t next = 0;
  for (auto& p : perm) {
    if (p >= 0) continue;
    while (taken[next]) ++next;
    p = static_cast<int64_t>(next++);
  }
  return on.transpose(x, perm);
}

V reach(Lower& on, V along, int64_t axis, int64_t rank) {
  Ints others;
  for (int64_t i = 0; i < rank; ++i)
    if (i != axis) others.push_back(i);
  return on.unsqueeze(along, others);
}

V for_pooling(Lower& on, V x) {
  const Graph& g = on.graph();
  if (g[x.id].kind != Value::Kind::node_output) return x;
  const NodeId n = g[x.id].def;
  const auto* pad = g[n].as<op::Pad>();
  if (!pad || pad->mode != "constant" || g.input(n, 3) || !is_float(on.dtype(x))) return x;
  if (const ValueId fill = g.input(n, 2)) {
    const auto known = g.constant(fill);
    if (!known || known->count() != 1 || known->double_at(0) != 0) return x;
  }
  const op::Pad attrs = *pad;
  const V data = g.input(n, 0), pads = g.input(n, 1);
  return on.Pad(data, pads, on.number_like(-0.0, x), {}, attrs);
}

V flags_any(Lower& on, V flags, int64_t axis) {
  return on.Greater(reduce(on, Reduce::sum, on.to(flags, DType::i32), {axis}, false), on.number(0, DType::i32));
}

Dims broadcast_shapes(Dims a, Dims b) {
  if (b.size() > a.size()) std::swap(a, b);
  for (size_t i = 0; i < b.size(); ++i) {
    Dim& d = a[a.size() - b.size() + i];
    d = broadcast(d, b[i]);
  }
  return a;
}

int64_t known_size(Lower& on, V x, int64_t axis, std::string_view what) {
  const Opt<int64_t> n = on.known_dim(x, axis);
  if (!n)
    unsupported(cat(what, " along an axis whose size depends on the inputs"),
                "give that axis a fixed size with --input");
  return *n;
}

}  // namespace cameo::lowering
