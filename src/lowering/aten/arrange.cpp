// Stacking, tiling, diagonals, products of matrices and vectors: further ways to arrange data.
#include <algorithm>
#include <numeric>

#include "lowering/complex.h"
#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

V at_least(Lower& on, V x, int64_t rank) {
  if (on.rank(x) >= rank) return x;
  if (on.rank(x) == 0) return on.reshape(x, Dims(static_cast<size_t>(rank), Dim(1)));
  if (rank == 2) return on.unsqueeze(x, {0});
  return on.rank(x) == 1 ? on.unsqueeze(x, {0, 2}) : on.unsqueeze(x, {2});
}
Vs all_at_least(Lower& on, Vs parts, int64_t rank) {
  for (V& v : parts) v = at_least(on, v, rank);
  return parts;
}

V swapped(Lower& on, V x, int64_t a, int64_t b) {
  if (on.rank(x) == 0) return x;
  Ints perm = on.all_axes(x);
  std::swap(perm[static_cast<size_t>(on.axis(x, a))], perm[static_cast<size_t>(on.axis(x, b))]);
  return on.transpose(x, perm);
}

V adjoint(Lower& on, V x) {
  if (on.rank(x)) x = swapped(on, x, -1, -2);
  return is_complex(on.dtype(x)) ? conjugate(on, x) : x;
}

V reversed(Lower& on, V x) {
  Ints perm = on.all_axes(x);
  std::reverse(perm.begin(), perm.end());
  return on.transpose(x, perm);
}

// The diagonal of two axes goes to the end: their product axis, every (columns + 1)-th element.
V diagonal(Lower& on, V x, int64_t offset, int64_t d1, int64_t d2) {
  const int64_t a = on.axis(x, d1), b = on.axis(x, d2);
  Ints perm;
  for (const int64_t i : on.all_axes(x))
    if (i != a && i != b) perm.push_back(i);
  perm.push_back(a), perm.push_back(b);
  x = on.transpose(x, perm);
  const Dim rows = on.dim(x, -2), columns = on.dim(x, -1);
  const Dim length = max(Dim(0), offset >= 0 ? min(rows, columns - Dim(offset)) : min(rows + Dim(offset), columns));
  Dims flat(on.shape(x).begin(), on.shape(x).end() - 2);
  flat.push_back(rows * columns);
  const V row = on.reshape(x, flat);
  const Dim start = offset >= 0 ? Dim(offset) : Dim(-offset) * columns;
  const V step = on.int_scalar(columns + Dim(1));
  const V at = on.Add(on.Mul(on.Range(on.On::int_scalar(0), on.int_scalar(length), on.On::int_scalar(1)), step),
                      on.int_scalar(start));
  const V y = on.Gather(row, at, {.axis = on.rank(row) - 1});
  on.graph().fact(y).type.shape->back() = length;
  return y;
}

V diag_embed(Lower& on, V x, int64_t offset, int64_t d1, int64_t d2) {
  const Dim n = on.dim(x, -1) + Dim(std::abs(offset));
  // A column of zeros is added, then shifted rows: x * (row index + offset == column index).
  const V range = on.Range(on.On::int_scalar(0), on.int_scalar(n), on.On::int_scalar(1));
  const V rows = on.unsqueeze(range, {1});
  const V hit = on.Equal(on.Add(rows, on.On::int_scalar(offset)), on.unsqueeze(range, {0}));
  Dims pads(static_cast<size_t>(on.rank(x)) * 2, Dim(0));
  (offset >= 0 ? pads.back() : pads[static_cast<size_t>(on.rank(x)) - 1]) = Dim(std::abs(offset));
  const V wide = offset == 0 ? x : V(on.Pad(x, on.int_vector(pads)));
  const V y = on.Where(hit, on.unsqueeze(wide, {on.rank(x)}), on.number(0, on.dtype(x)));
  const int64_t r = on.rank(x) + 1;
  return moved(on, y, {r - 2, r - 1}, {d1, d2});
}

V diag(Lower& on, V x, int64_t k) { return on.rank(x) == 1 ? diag_embed(on, x, k, 0, 1) : diagonal(on, x, k, 0, 1); }

V repeat_interleave(Lower& on, V x, Dim n, const Opt<int64_t>& dim) {
  if (!dim) return repeat_interleave(on, on.reshape(x, {element_count(on.shape(x))}), n, 0);
  const int64_t axis = on.axis(x, *dim);
  Dims wide = on.shape(x), out = wide;
  wide.insert(wide.begin() + axis + 1, n);
  out[static_cast<size_t>(axis)] = out[static_cast<size_t>(axis)] * n;
  return on.reshape(on.expand(on.unsqueeze(x, {axis + 1}), wide), out);
}

// 0 0 1 2 2 2 for 2 1 3: how many running sums each place of the result has passed.
V repeat_places(Lower& on, V repeats, const Opt<Dim>& size) {
  const V ends = on.CumSum(on.to(repeats, DType::i64), on.On::int_scalar(0));
  const Dim total = size ? *size : on.int_of(reduce(on, Reduce::sum, on.to(repeats, DType::i64), {0}, false));
  return reduce(on, Reduce::sum, on.to(on.LessOrEqual(ends, on.unsqueeze(iota(on, total), {1})), DType::i64), {1},
                false);
}

V tile(Lower& on, V x, Dims repeats) {
  while (static_cast<int64_t>(repeats.size()) < on.rank(x)) repeats.insert(repeats.begin(), Dim(1));
  Ints lead(repeats.size() - static_cast<size_t>(on.rank(x)));
  std::iota(lead.begin(), lead.end(), 0);
  return on.Tile(on.unsqueeze(x, lead), on.int_vector(repeats));
}

Vs meshgrid(Lower& on, Vs parts, const Str& indexing) {
  Dims shape;
  for (V& v : parts) {
    v = at_least(on, v, 1);
    shape.push_back(on.dim(v, 0));
  }
  const auto rank = static_cast<int64_t>(parts.size());
  for (int64_t i = 0; i < rank; ++i) {
    Ints others;
    for (int64_t k = 0; k < rank; ++k)
      if (k != i) others.push_back(k);
    V& v = parts[static_cast<size_t>(i)];
    v = on.expand(on.unsqueeze(v, others), shape);
    if (indexing == "xy" && rank >= 2) v = swapped(on, v, 0, 1);
  }
  return parts;
}

V unfold(Lower& on, V x, int64_t dim, int64_t size, int64_t step) {
  if (on.rank(x) == 0) return on.unsqueeze(x, {0});
  const int64_t axis = on.axis(x, dim);
  const Dim count = floor_div(on.dim(x, axis) - Dim(size), Dim(step)) + Dim(1);
  const V starts = on.unsqueeze(
      on.Mul(on.Range(on.On::int_scalar(0), on.int_scalar(count), on.On::int_scalar(1)), on.On::int_scalar(step)), {1});
  const V at = on.Add(starts, on.Range(on.On::int_scalar(0), on.On::int_scalar(size), on.On::int_scalar(1)));
  const V y = on.Gather(x, at, {.axis = axis});
  on.graph().fact(y).type.shape->at(static_cast<size_t>(axis)) = count;
  return moved(on, y, {axis + 1}, {on.rank(y) - 1});
}

V baddbmm(Lower& on, V c, V a, V b, const Num& beta, const Num& alpha) {
  V p = on.MatMul(a, b);
  if (!alpha.is(1)) p = on.Mul(p, on.scalar_like(alpha, p));
  if (beta.is(0)) return p;
  if (!beta.is(1)) c = on.Mul(c, on.scalar_like(beta, c));
  return on.Add(c, p);
}

Vs tensor_split(Lower& on, V x, int64_t sections, int64_t dim) {
  const int64_t axis = on.axis(x, dim);
  const Dim size = on.dim(x, axis), each = floor_div(size, Dim(sections)), more = mod(size, Dim(sections));
  const auto start = [&](int64_t i) {
    return i == sections ? size : each * Dim(i) + min(Dim(i), more);
  };  // the first ones have one more
  Vs out;
  for (int64_t i = 0; i < sections; ++i) out.push_back(on.slice(x, axis, start(i), start(i + 1)));
  return out;
}
Vs tensor_split_at(Lower& on, V x, const Dims& indices, int64_t dim) {
  const int64_t axis = on.axis(x, dim);
  Vs out;
  Opt<Dim> start;
  for (size_t i = 0; i <= indices.size(); ++i) {
    const Opt<Dim> end = i < indices.size() ? Opt<Dim>(indices[i]) : std::nullopt;
    const Span s = clamp_span(on, on.dim(x, axis), start, end);
    out.push_back(on.slice(x, axis, s.start, s.end));
    start = end;
  }
  return out;
}

V flipped(Lower& on, V x, int64_t axis) {
  const V y = on.Slice(x, on.ints({-1}), on.ints({INT64_MIN + 1}), on.ints({axis}), on.ints({-1}));
  on.graph().fact(y).type.shape = on.shape(x);
  return y;
}

V outer(Lower& on, V a, V b) { return on.Mul(on.unsqueeze(a, {1}), on.unsqueeze(b, {0})); }
V select_put(Lower& on, V x, V src, int64_t dim, Dim index) { return put_index(on, x, on.axis(x, dim), index, src); }
V slice_put(Lower& on, V x, V src, int64_t dim, Opt<Dim> start, Opt<Dim> end, int64_t step) {
  const int64_t axis = on.axis(x, dim);
  const Span s = clamp_span(on, on.dim(x, axis), start, end);
  return put_slice(on, x, axis, s.start, s.end, step, on.expand(src, [&] {
    Dims d = on.shape(x);
    d[static_cast<size_t>(axis)] = ceil_div(s.end - s.start, Dim(step));
    return d;
  }()));
}

// The elements in order, as many as fit; what torch leaves undefined is zero.
V resized(Lower& on, V x, Dims sizes) {
  const Dim have = element_count(on.shape(x)), want = element_count(sizes);
  V row = flat(on, x);
  if (on.provably(have, want)) return on.reshape(row, sizes);
  if (!have.is_literal() || !want.is_literal())
    unsupported("resize to a number of elements that depends on the inputs");
  row = want.literal() < have.literal() ? on.slice(row, 0, Dim(0), want)
                                        : on.concat({row, on.full({want - have}, Num(int64_t{0}), on.dtype(x))}, 0);
  return on.reshape(row, sizes);
}

V index_fill(Lower& on, V x, int64_t dim, V at, V v) {
  v = on.to(v, on.dtype(x));
  if (on.rank(x) == 0) return v;
  const int64_t axis = on.axis(x, dim);
  at = at_least(on, at, 1);
  Dims shape = on.shape(x);
  shape[static_cast<size_t>(axis)] = on.dim(at, 0);
  const V y =
      on.ScatterND(moved(on, x, {axis}, {0}), on.unsqueeze(at, {1}), moved(on, on.expand(v, shape), {axis}, {0}));
  return moved(on, y, {0}, {axis});
}

constexpr Row table[] = {
    {"aten::atleast_1d", [](Lower& on, V x) { return at_least(on, x, 1); }},
    {"aten::atleast_2d", [](Lower& on, V x) { return at_least(on, x, 2); }},
    {"aten::atleast_3d", [](Lower& on, V x) { return at_least(on, x, 3); }},
    {"aten::atleast_1d.Sequence", [](Lower& on, Vs v) { return all_at_least(on, std::move(v), 1); }},
    {"aten::atleast_2d.Sequence", [](Lower& on, Vs v) { return all_at_least(on, std::move(v), 2); }},
    {"aten::atleast_3d.Sequence", [](Lower& on, Vs v) { return all_at_least(on, std::move(v), 3); }},
    {"aten::vstack", [](Lower& on, Vs v) { return on.concat(all_at_least(on, std::move(v), 2), 0); }, promote(0)},
    {"aten::hstack", [](Lower& on, Vs v) { v = all_at_least(on, std::move(v), 1); return on.concat(v, on.rank(v[0]) == 1 ? 0 : 1); }, promote(0)},
    {"aten::dstack", [](Lower& on, Vs v) { return on.concat(all_at_least(on, std::move(v), 3), 2); }, promote(0)},
    {"aten::column_stack", [](Lower& on, Vs v) {
       for (V& x : v) x = on.rank(x) < 2 ? on.reshape(x, {element_count(on.shape(x)), Dim(1)}) : x;
       return on.concat(v, 1);
     }, promote(0)},
    {"aten::concat", [](Lower& on, Vs v, int64_t dim) { return on.concat(v, on.axis(v[0], dim)); }, promote(0)},
    {"aten::movedim.intlist", fn<moved>}, {"aten::movedim.int", [](Lower& on, V x, int64_t a, int64_t b) { return on.rank(x) ? moved(on, x, {a}, {b}) : x; }},
    {"aten::swapaxes", fn<swapped>}, {"aten::swapdims", fn<swapped>}, {"aten::transpose_copy.int", fn<swapped>},
    {"aten::numpy_T", fn<reversed>},
    {"aten::mT", [](Lower& on, V x) { return swapped(on, x, -1, -2); }}, {"aten::mH", fn<adjoint>},
    {"aten::adjoint", fn<adjoint>}, {"aten::matrix_H", fn<adjoint>},
    {"aten::t_copy", [](Lower& on, V x) { return on.rank(x) < 2 ? x : swapped(on, x, 0, 1); }},
    {"aten::permute_copy", [](Lower& on, V x, Ints dims) { return on.transpose(x, on.axes(x, dims)); }},
    {"aten::ravel", [](Lower& on, V x) { return on.reshape(x, {element_count(on.shape(x))}); }},
    {"aten::view_copy", [](Lower& on, V x, Dims sizes) { return on.reshape(x, solve_sizes(on, x, std::move(sizes))); }},
    {"aten::unsqueeze_copy", [](Lower& on, V x, int64_t d) { return on.unsqueeze(x, {d < 0 ? d + on.rank(x) + 1 : d}); }},
    {"aten::alias_copy", [](Lower&, V x) { return x; }},
    {"aten::expand_copy", [](Lower& on, V x, Dims sizes) {
       return expanded(on, x, std::move(sizes));
     }},
    {"aten::fliplr", [](Lower& on, V x) { return flipped(on, x, 1); }},
    {"aten::flipud", [](Lower& on, V x) { return flipped(on, x, 0); }},
    {"aten::sum_to_size", [](Lower& on, V x, Dims sizes) {
       Ints lead, ones;
       const int64_t extra = on.rank(x) - static_cast<int64_t>(sizes.size());
       for (int64_t i = 0; i < extra; ++i) lead.push_back(i);
       for (size_t i = 0; i < sizes.size(); ++i)
         if (sizes[i].is(1) && !on.dim(x, extra + static_cast<int64_t>(i)).is(1)) ones.push_back(extra + static_cast<int64_t>(i));
       return reduce(on, Reduce::sum, reduce(on, Reduce::sum, x, ones, true), lead, false);
     }},
    {"aten::channel_shuffle", [](Lower& on, V x, Dim groups) {
       on.need_rank(x, 3, "a shuffle of channels");
       Dims s = on.shape(x), split = s;
       split.insert(split.begin() + 1, groups);
       split[2] = floor_div(s[1], groups);
       Ints perm(split.size());
       std::iota(perm.begin(), perm.end(), 0);
       std::swap(perm[1], perm[2]);
       return on.reshape(on.transpose(on.reshape(x, split), perm), s);
     }},
    {"aten::broadcast_to", [](Lower& on, V x, Dims sizes) {
       return expanded(on, x, std::move(sizes));
     }},
    {"aten::broadcast_tensors", [](Lower& on, Vs v) {
       Dims shape;
       for (const V x : v) {
         Dims other = on.shape(x);
         if (other.size() > shape.size()) std::swap(other, shape);
         for (size_t i = 0; i < other.size(); ++i) shape[shape.size() - other.size() + i] = broadcast(shape[shape.size() - other.size() + i], other[i]);
       }
       for (V& x : v) x = on.expand(x, shape);
       return v;
     }},
    {"aten::diagonal", fn<diagonal>}, {"aten::linalg_diagonal", fn<diagonal>}, {"aten::diagonal_copy", fn<diagonal>},
    {"aten::diag", fn<diag>}, {"aten::diag_embed", fn<diag_embed>},
    {"aten::diagflat", [](Lower& on, V x, int64_t k) { return diag_embed(on, on.reshape(x, {element_count(on.shape(x))}), k, 0, 1); }},
    {"aten::trace", [](Lower& on, V x) { const V d = diagonal(on, x, 0, 0, 1); return reduce(on, Reduce::sum, on.is_float(d) ? d : on.to(d, DType::i64), {0}, false); }},
    {"aten::repeat_interleave.self_int", fn<repeat_interleave>},
    {"aten::repeat_interleave.Tensor", [](Lower& on, V repeats, Opt<Dim> size) { return repeat_places(on, repeats, size); }},
    {"aten::repeat_interleave.self_Tensor", [](Lower& on, V x, V repeats, Opt<int64_t> dim, Opt<Dim> size) {
       if (!dim) x = flat(on, x);
       const int64_t axis = dim ? on.axis(x, *dim) : 0;
       if (on.rank(repeats) == 0) repeats = on.unsqueeze(repeats, {0});
       return V(on.Gather(x, repeat_places(on, on.expand(repeats, {on.dim(x, axis)}), size), {.axis = axis}));
     }},
    {"aten::tile", fn<tile>},
    {"aten::meshgrid", [](Lower& on, Vs v) { return meshgrid(on, std::move(v), "ij"); }},
    {"aten::meshgrid.indexing", [](Lower& on, Vs v, Str indexing) { return meshgrid(on, std::move(v), indexing); }},
    {"aten::unfold", fn<unfold>}, {"aten::unfold_copy", fn<unfold>},
    {"aten::rot90", [](Lower& on, V x, int64_t k, Ints dims) {
       const Ints axes = on.axes(x, dims);
       if (axes.size() != 2) unsupported(cat("a rotation in ", axes.size(), " axes"));
       const auto flip = [&](V v, int64_t a) { return flipped(on, v, a); };
       switch (((k % 4) + 4) % 4) {
         case 1: return swapped(on, flip(x, axes[1]), axes[0], axes[1]);
         case 2: return V(flip(flip(x, axes[0]), axes[1]));
         case 3: return swapped(on, flip(x, axes[0]), axes[0], axes[1]);
         default: return x;
       }
     }},
    {"aten::tensor_split.sections", fn<tensor_split>},
    {"aten::tensor_split.indices", fn<tensor_split_at>},
    {"aten::tensor_split.tensor_indices_or_sections", [](Lower& on, V x, V at, int64_t dim) {
       const auto known = on.graph().constant(at, 1 << 16);
       if (on.rank(at) == 0 && known) return tensor_split(on, x, known->to_doubles().empty() ? 1 : static_cast<int64_t>(known->to_doubles()[0]), dim);
       if (on.rank(at) == 0 && on.unpacked) {
         on.note("lower.fixed-number", cat("tensor_split gives the ", *on.unpacked, " pieces that the program takes, whatever the inputs say"));
         return tensor_split(on, x, *on.unpacked, dim);
       }
       if (on.rank(at) == 0) unsupported("tensor_split into a number of pieces that depends on the inputs");
       Dims places;
       for (int64_t i = 0; i < known_size(on, at, 0, "tensor_split"); ++i) places.push_back(on.int_of(on.gather_scalar(at, 0, Dim(i))));
       return tensor_split_at(on, x, places, dim);
     }},
    {"aten::hsplit.int", [](Lower& on, V x, int64_t n) { return tensor_split(on, x, n, on.rank(x) == 1 ? 0 : 1); }},
    {"aten::vsplit.int", [](Lower& on, V x, int64_t n) { return tensor_split(on, x, n, 0); }},
    {"aten::dsplit.int", [](Lower& on, V x, int64_t n) { return tensor_split(on, x, n, 2); }},
    {"aten::hsplit.array", [](Lower& on, V x, Dims at) { return tensor_split_at(on, x, at, on.rank(x) == 1 ? 0 : 1); }},
    {"aten::vsplit.array", [](Lower& on, V x, Dims at) { return tensor_split_at(on, x, at, 0); }},
    {"aten::dsplit.array", [](Lower& on, V x, Dims at) { return tensor_split_at(on, x, at, 2); }},
    {"aten::select_scatter", fn<select_put>}, {"aten::slice_scatter", fn<slice_put>},
    {"aten::outer", fn<outer>, promote(0, 1)}, {"aten::ger", fn<outer>, promote(0, 1)},
    {"aten::dot", [](Lower& on, V a, V b) { return V(on.MatMul(a, b)); }}, {"aten::vdot", [](Lower& on, V a, V b) { return V(on.MatMul(is_complex(on.dtype(a)) ? conjugate(on, a) : a, b)); }},
    {"aten::mv", [](Lower& on, V a, V b) { return V(on.MatMul(a, b)); }},
    {"aten::inner", [](Lower& on, V a, V b) {
       if (on.rank(a) == 0 || on.rank(b) == 0) return V(on.Mul(a, b));
       if (on.rank(b) == 1) return V(on.MatMul(a, b));
       const Dims tail(on.shape(b).begin(), on.shape(b).end() - 1);
       const V flat = on.transpose(on.reshape(b, {element_count(tail), on.dim(b, -1)}), {1, 0});
       Dims out(on.shape(a).begin(), on.shape(a).end() - 1);
       out.insert(out.end(), tail.begin(), tail.end());
       return on.reshape(on.MatMul(a, flat), out);
     }},
    {"aten::baddbmm", fn<baddbmm>}, {"aten::addmv", fn<baddbmm>},
    {"aten::addbmm", [](Lower& on, V c, V a, V b, Num beta, Num alpha) {
       V p = reduce(on, Reduce::sum, on.MatMul(a, b), {0}, false);
       if (!alpha.is(1)) p = on.Mul(p, on.scalar_like(alpha, p));
       return V(on.Add(beta.is(1) ? c : V(on.Mul(c, on.scalar_like(beta, c))), p));
     }},
    {"aten::addr", [](Lower& on, V c, V a, V b, Num beta, Num alpha) {
       V p = outer(on, a, b);
       if (!alpha.is(1)) p = on.Mul(p, on.scalar_like(alpha, p));
       return V(on.Add(beta.is(1) ? c : V(on.Mul(c, on.scalar_like(beta, c))), p));
     }},
    {"aten::one_hot", [](Lower& on, V x, Dim classes) {
       const V depth = classes.is(-1) ? V(on.unsqueeze(on.Add(reduce(on, Reduce::max, x, on.all_axes(x), false), on.On::int_scalar(1)), {0})) : on.int_vector(Dims{classes});
       const V y = on.OneHot(at_least(on, x, 1), depth, on.ints({0, 1}), {.axis = -1});
       return on.rank(x) == 0 ? on.squeeze(y, {0}) : y;
     }},
    {"aten::count_nonzero", [](Lower& on, V x, Opt<int64_t> dim) {
       return reduce(on, Reduce::sum, on.to(on.to(x, DType::boolean), DType::i64), dim ? Ints{on.axis(x, *dim)} : on.all_axes(x), false);
     }},
    {"aten::argwhere", [](Lower& on, V x) {
       const V rows = on.transpose(on.NonZero(at_least(on, x, 1)), {1, 0});
       return on.rank(x) == 0 ? on.slice(rows, 1, Dim(0), Dim(0)) : rows;
     }},
    {"aten::take", [](Lower& on, V x, V at) { return V(on.Gather(on.reshape(x, {element_count(on.shape(x))}), at, {.axis = 0})); }},
    {"aten::index_add", [](Lower& on, V x, int64_t dim, V at, V src, Num alpha) {
       if (!alpha.is(1)) src = on.Mul(src, on.scalar_like(alpha, src));
       if (on.rank(x) == 0) return V(on.Add(x, on.reshape(src, {})));
       const int64_t axis = on.axis(x, dim);
       const V y = on.ScatterND(moved(on, x, {axis}, {0}), on.unsqueeze(at_least(on, at, 1), {1}), moved(on, src, {axis}, {0}), {.reduction = "add"});
       return moved(on, y, {0}, {axis});
     }},
    {"aten::index_copy", [](Lower& on, V x, int64_t dim, V at, V src) {
       if (on.rank(x) == 0) return on.reshape(src, {});
       const int64_t axis = on.axis(x, dim);
       const V y = on.ScatterND(moved(on, x, {axis}, {0}), on.unsqueeze(at_least(on, at, 1), {1}), moved(on, src, {axis}, {0}));
       return moved(on, y, {0}, {axis});
     }},
    {"aten::resize", fn<resized>}, {"aten::resize_as", [](Lower& on, V x, V like) { return resized(on, x, on.shape(like)); }},
    {"aten::index_fill.int_Scalar", [](Lower& on, V x, int64_t dim, V at, Num v) { return index_fill(on, x, dim, at, on.scalar_like(v, x)); }},
    {"aten::index_fill.int_Tensor", fn<index_fill>},
};

}  // namespace

std::span<const Row> arrange_rows() { return table; }

}  // namespace cameo::lowering
