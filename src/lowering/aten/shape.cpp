// Views, slices, joins: what moves data without looking at it.
#include <algorithm>

#include "lowering/complex.h"
#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

V flatten(Lower& on, V x, int64_t first, int64_t last) {
  if (on.rank(x) == 0) return on.reshape(x, {Dim(1)});
  first = on.axis(x, first), last = on.axis(x, last);
  Dims sizes;
  Dim product(1);
  for (int64_t i = 0; i < on.rank(x); ++i) {
    if (i < first || i > last) sizes.push_back(on.dim(x, i));
    else {
      product = product * on.dim(x, i);
      if (i == last) sizes.push_back(product);
    }
  }
  return on.reshape(x, sizes);
}

V swap_axes(Lower& on, V x, int64_t a, int64_t b) {
  Ints perm = on.all_axes(x);
  if (perm.empty()) return x;
  std::swap(perm[static_cast<size_t>(on.axis(x, a))], perm[static_cast<size_t>(on.axis(x, b))]);
  return on.transpose(x, perm);
}

V select(Lower& on, V x, int64_t dim, Dim index) {
  const int64_t axis = on.axis(x, dim);
  return on.gather_scalar(x, axis, wrap_index(on, on.dim(x, axis), index));
}

V slice(Lower& on, V x, int64_t dim, const Opt<Dim>& start, const Opt<Dim>& end, int64_t step) {
  const int64_t axis = on.axis(x, dim);
  const Span s = clamp_span(on, on.dim(x, axis), start, end);
  return on.slice(x, axis, s.start, s.end, step);
}

Vs split_sizes(Lower& on, V x, const Dims& sizes, int64_t dim) {
  const int64_t axis = on.axis(x, dim);
  if (sizes.size() == 1) return {x};
  Vs out;
  for (const ValueId v : on.Split(x, sizes.size(), on.int_vector(sizes), {.axis = axis})) out.push_back(v);
  for (size_t i = 0; i < out.size(); ++i) on.graph().fact(out[i]).type.shape->at(static_cast<size_t>(axis)) = sizes[i];
  return out;
}

Vs split_every(Lower& on, V x, Dim each, int64_t dim) {
  const Dim size = on.dim(x, dim), count = on.graph().facts.simplify(ceil_div(size, each));
  if (!count.is_literal())
    unsupported("split into a number of pieces that depends on the inputs", "give that axis a fixed size with --input");
  Dims sizes(static_cast<size_t>(std::max<int64_t>(1, count.literal())), each);
  sizes.back() = size - each * Dim(count.literal() - 1);
  return split_sizes(on, x, sizes, dim);
}

Vs chunk(Lower& on, V x, int64_t chunks, int64_t dim) {
  const Dim size = on.dim(x, dim);
  const Dim each = ceil_div(size, Dim(chunks));
  if (!size.is_literal() && on.graph().facts.divisible(size, chunks) == Answer::yes)
    return split_sizes(on, x, Dims(static_cast<size_t>(chunks), each), dim);
  // Taken apart into names, any other number of pieces raises.
  if (!size.is_literal() && on.unpacked && *on.unpacked == chunks) {
    on.note("lower.fixed-number", cat("chunk gives the ", chunks, " pieces that the program takes: the size ",
                                      size.text(), " is assumed to have so many"));
    Dims sizes(static_cast<size_t>(chunks), each);
    sizes.back() = size - each * Dim(chunks - 1);
    return split_sizes(on, x, sizes, dim);
  }
  return split_every(on, x, each, dim);
}

Vs unbind(Lower& on, V x, int64_t dim) {
  const int64_t axis = on.axis(x, dim);
  const Opt<int64_t> n = on.known_dim(x, axis);
  if (!n)
    unsupported("unbind over an axis whose size depends on the inputs", "give that axis a fixed size with --input");
  Vs out;
  for (const V part : split_sizes(on, x, Dims(static_cast<size_t>(*n), Dim(1)), dim))
    out.push_back(on.squeeze(part, {axis}));
  return out;
}

V squeeze_dims(Lower& on, V x, const Ints& dims) {
  Ints axes;
  if (on.rank(x) == 0) return x;
  for (const int64_t d : on.axes(x, dims)) {
    const Dim size = on.dim(x, d);
    if (on.provably(size, Dim(1))) axes.push_back(d);
    else on.guess_not_equal(size, 1, "squeeze drops an axis");
  }
  std::sort(axes.begin(), axes.end());
  return on.squeeze(x, axes);
}

V cat_tensors(Lower& on, Vs parts, int64_t dim) {
  // Legacy: empty 1-d tensors are skipped, all but one where there is nothing else.
  const V first = parts[0];
  std::erase_if(parts, [&](V v) { return on.rank(v) == 1 && on.dim(v, 0).is(0); });
  if (parts.empty()) return first;
  return on.concat(parts, on.axis(parts[0], dim));
}

// torch drops the imaginary part, with a warning of its own.
V converted(Lower& on, V x, DType t) {
  return on.to(is_complex(on.dtype(x)) && !is_complex(t) && t != DType::boolean ? parts_of(on, x).re : x, t);
}

constexpr Row table[] = {
    {"aten::view", [](Lower& on, V x, Dims sizes) { return on.reshape(x, solve_sizes(on, x, std::move(sizes))); }},
    {"aten::reshape", [](Lower& on, V x, Dims sizes) { return on.reshape(x, solve_sizes(on, x, std::move(sizes))); }},
    {"aten::_unsafe_view",
     [](Lower& on, V x, Dims sizes) { return on.reshape(x, solve_sizes(on, x, std::move(sizes))); }},
    {"aten::view_as", [](Lower& on, V x, V other) { return on.reshape(x, on.shape(other)); }},
    {"aten::reshape_as", [](Lower& on, V x, V other) { return on.reshape(x, on.shape(other)); }},
    {"aten::flatten.using_ints", fn<flatten>},
    {"aten::unflatten.int",
     [](Lower& on, V x, int64_t dim, Dims sizes) {
       if (on.rank(x) == 0) x = on.unsqueeze(x, {0});
       const auto axis = static_cast<size_t>(on.axis(x, dim));
       const Dim total = on.shape(x)[axis];
       Dim known(1);
       for (const Dim d : sizes)
         if (!d.is(-1)) known = known * d;
       for (Dim& d : sizes)
         if (d.is(-1)) d = floor_div(total, known);
       Dims all = on.shape(x);
       all.erase(all.begin() + static_cast<std::ptrdiff_t>(axis));
       all.insert(all.begin() + static_cast<std::ptrdiff_t>(axis), sizes.begin(), sizes.end());
       return on.reshape(x, all);
     }},
    {"aten::transpose.int", fn<swap_axes>},
    {"aten::t", [](Lower& on, V x) { return on.rank(x) < 2 ? x : swap_axes(on, x, 0, 1); }},
    {"aten::permute", [](Lower& on, V x, Ints dims) { return on.transpose(x, on.axes(x, dims)); }},
    {"aten::unsqueeze",
     [](Lower& on, V x, int64_t dim) { return on.unsqueeze(x, {dim < 0 ? dim + on.rank(x) + 1 : dim}); }},
    {"aten::squeeze", [](Lower& on, V x) { return squeeze_dims(on, x, on.all_axes(x)); }},
    {"aten::squeeze.dim", [](Lower& on, V x, int64_t dim) { return squeeze_dims(on, x, {dim}); }},
    {"aten::squeeze.dims", [](Lower& on, V x, Ints dims) { return squeeze_dims(on, x, dims); }},
    {"aten::expand", [](Lower& on, V x, Dims sizes) { return expanded(on, x, std::move(sizes)); }},
    {"aten::expand_as", [](Lower& on, V x, V other) { return on.expand(x, on.shape(other)); }},
    {"aten::select.int", fn<select>},
    {"aten::slice.Tensor", [](Lower& on, V x, int64_t dim, Opt<Dim> start, Opt<Dim> end,
                              int64_t step) { return slice(on, x, dim, start, end, step); }},
    {"aten::narrow", fn<narrowed>},
    {"aten::split.Tensor", fn<split_every>},
    {"aten::split_with_sizes", [](Lower& on, V x, Dims sizes, int64_t dim) { return split_sizes(on, x, sizes, dim); }},
    {"aten::split.sizes", [](Lower& on, V x, Dims sizes, int64_t dim) { return split_sizes(on, x, sizes, dim); }},
    {"aten::chunk", fn<chunk>},
    {"aten::unsafe_chunk", fn<chunk>},
    {"aten::split_copy.Tensor", fn<split_every>},
    {"aten::unsafe_split.Tensor", fn<split_every>},
    {"aten::split_with_sizes_copy", fn<split_sizes>},
    {"aten::unsafe_split_with_sizes", fn<split_sizes>},
    {"aten::unbind_copy.int", fn<unbind>},
    {"aten::select_copy.int", fn<select>},
    {"aten::slice_copy.Tensor", fn<slice>},
    {"aten::squeeze_copy", [](Lower& on, V x) { return squeeze_dims(on, x, on.all_axes(x)); }},
    {"aten::squeeze_copy.dim", [](Lower& on, V x, int64_t dim) { return squeeze_dims(on, x, {dim}); }},
    {"aten::squeeze_copy.dims", [](Lower& on, V x, Ints dims) { return squeeze_dims(on, x, dims); }},
    {"aten::unbind.int", fn<unbind>},
    {"aten::cat", [](Lower& on, Vs parts, int64_t dim) { return cat_tensors(on, std::move(parts), dim); }, promote(0)},
    {"aten::stack",
     [](Lower& on, Vs parts, int64_t dim) {
       const int64_t axis = dim < 0 ? dim + on.rank(parts[0]) + 1 : dim;
       for (V& v : parts) v = on.unsqueeze(v, {axis});
       return on.concat(parts, axis);
     },
     promote(0)},
    {"aten::repeat",
     [](Lower& on, V x, Dims repeats) {
       if (repeats.size() < static_cast<size_t>(on.rank(x)))
         unsupported(cat("repeats for ", repeats.size(), " axes of a tensor that has ", on.rank(x)));
       Ints lead(repeats.size() - static_cast<size_t>(on.rank(x)));
       for (size_t i = 0; i < lead.size(); ++i) lead[i] = static_cast<int64_t>(i);
       return V(on.Tile(on.unsqueeze(x, lead), on.int_vector(repeats)));
     }},
    {"aten::contiguous", [](Lower&, V x) { return x; }},
    {"aten::detach", [](Lower&, V x) { return x; }},
    {"aten::alias", [](Lower&, V x) { return x; }},
    {"aten::cpu", [](Lower&, V x) { return x; }},
    {"aten::clone", [](Lower&, V x) { return x; }},
    {"aten::lift_fresh", [](Lower&, V x) { return x; }},
    {"aten::to.dtype", [](Lower& on, V x, DType t) { return converted(on, x, t); }},
    {"aten::to.device", [](Lower& on, V x, Str, DType t) { return converted(on, x, t); }},
    {"aten::to.other", [](Lower& on, V x, V other) { return converted(on, x, on.dtype(other)); }},
    {"aten::to.prim_Device", [](Lower& on, V x, Arg, Opt<DType> t) { return t ? converted(on, x, *t) : x; }},
    {"aten::to.dtype_layout", [](Lower& on, V x, Opt<DType> t) { return t ? converted(on, x, *t) : x; }},
    {"aten::to.prim_dtype", [](Lower& on, V x, Opt<DType> t) { return t ? converted(on, x, *t) : x; }},
    {"aten::type_as", [](Lower& on, V x, V other) { return on.to(x, on.dtype(other)); }},
    {"aten::copy", [](Lower& on, V x, V src) { return on.expand(on.to(src, on.dtype(x)), on.shape(x)); }},
    {"aten::fill.Scalar", [](Lower& on, V x, Num v) { return on.full(on.shape(x), v, on.dtype(x)); }},
    {"aten::fill.Tensor", [](Lower& on, V x, V v) { return on.expand(on.to(v, on.dtype(x)), on.shape(x)); }},
    {"aten::zero", [](Lower& on, V x) { return on.zeros_like(x); }},
};

}  // namespace

std::span<const Row> shape_rows() { return table; }

}  // namespace cameo::lowering
