// torch, Other Operations: elements in another order, repeated, or with more axes.
#include <utility>

#include "lowering/axes.h"
#include "lowering/complex.h"
#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

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

Vs meshgrid(Lower& on, Vs parts, const Str& indexing) {
  Dims shape;
  for (V& v : parts) {
    v = at_least_rank(on, v, 1);
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

V flipped(Lower& on, V x, int64_t axis) {
  const V y = on.Slice(x, on.ints({-1}), on.ints({INT64_MIN + 1}), on.ints({axis}), on.ints({-1}));
  on.graph().fact(y).type.shape = on.shape(x);
  return y;
}

V same(Lower&, V x) { return x; }

V flip(Lower& on, V x, Ints dims) {
  if (dims.empty() || on.rank(x) == 0) return x;
  const Ints axes = on.axes(x, dims);
  const Ints starts(axes.size(), -1), ends(axes.size(), INT64_MIN + 1), steps(axes.size(), -1);
  const V y = on.Slice(x, on.ints(starts), on.ints(ends), on.ints(axes), on.ints(steps));
  on.graph().fact(y).type.shape = on.shape(x);
  return y;
}

V block_diagonal(Lower& on, Vs blocks) {
  Dim width(0), before(0);
  for (V& b : blocks) {
    if (on.rank(b) < 2) b = on.reshape(b, {Dim(1), element_count(on.shape(b))});
    width = width + on.dim(b, 1);
  }
  for (V& b : blocks) {
    const Dim own = on.dim(b, 1);
    const V padded = on.Pad(b, on.int_vector(Dims{Dim(0), before, Dim(0), width - before - own}));
    before = before + own;
    b = padded;
  }
  return on.concat(blocks, 0);
}

V cartesian(Lower& on, Vs parts) {
  if (parts.size() == 1) return parts[0];
  Dims shape;
  for (const V v : parts) shape.push_back(element_count(on.shape(v)));
  const auto rank = static_cast<int64_t>(parts.size());
  for (int64_t i = 0; i < rank; ++i) {
    V& v = parts[static_cast<size_t>(i)];
    v = on.unsqueeze(flat(on, on.expand(reach(on, flat(on, v), i, rank), shape)), {1});
  }
  return on.concat(parts, 1);
}

// Of an axis of any size: the places above the diagonal.
V pairs(Lower& on, V x, bool again) {
  const Dim n = on.dim(x, 0);
  const V above =
      on.Trilu(on.full({n, n}, Num(int64_t{1}), DType::i32), on.int_scalar(Dim(again ? 0 : 1)), {.upper = 1});
  return on.Gather(x, on.transpose(on.NonZero(above), {1, 0}), {.axis = 0});
}

V combinations(Lower& on, V x, int64_t r, bool again) {
  if (r == 2 && !on.dim(x, 0).is_literal()) return pairs(on, x, again);
  const int64_t n = known_size(on, x, 0, "combinations");
  constexpr size_t most = 1 << 22;  // numbers in the table of all combinations
  if (r < 0 || r > 1024) unsupported(cat("combinations of ", r, " elements"));
  Ints rows, at(static_cast<size_t>(r), 0);
  for (int64_t i = 0; i < r && !again; ++i) at[static_cast<size_t>(i)] = i;
  int64_t count = 0;
  const auto fits = [&](int64_t i, int64_t v) { return v < (again ? n : n - r + i + 1); };
  for (bool more = r > 0 && fits(0, at[0]) && fits(r - 1, at.back()); more; ++count) {
    rows.insert(rows.end(), at.begin(), at.end());
    if (rows.size() > most) unsupported("more combinations than a table of 4 million numbers can hold");
    int64_t i = r - 1;
    while (i >= 0 && !fits(i, at[static_cast<size_t>(i)] + 1)) --i;
    more = i >= 0;
    for (int64_t v = more ? ++at[static_cast<size_t>(i)] : 0, k = i + 1; more && k < r; ++k)
      at[static_cast<size_t>(k)] = again ? v : ++v;
  }
  return on.Gather(x, on.reshape(on.ints(rows), {Dim(count), Dim(r)}), {.axis = 0});
}

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

constexpr Row table[] = {
    {"aten::atleast_1d", [](Lower& on, V x) { return at_least_rank(on, x, 1); }},
    {"aten::atleast_1d.Sequence", [](Lower& on, Vs v) { return all_at_least_rank(on, std::move(v), 1); }},
    {"aten::atleast_2d", [](Lower& on, V x) { return at_least_rank(on, x, 2); }},
    {"aten::atleast_2d.Sequence", [](Lower& on, Vs v) { return all_at_least_rank(on, std::move(v), 2); }},
    {"aten::atleast_3d", [](Lower& on, V x) { return at_least_rank(on, x, 3); }},
    {"aten::atleast_3d.Sequence", [](Lower& on, Vs v) { return all_at_least_rank(on, std::move(v), 3); }},
    {"aten::broadcast_tensors",
     [](Lower& on, Vs v) {
       Dims shape;
       for (const V x : v) {
         Dims other = on.shape(x);
         if (other.size() > shape.size()) std::swap(other, shape);
         for (size_t i = 0; i < other.size(); ++i)
           shape[shape.size() - other.size() + i] = broadcast(shape[shape.size() - other.size() + i], other[i]);
       }
       for (V& x : v) x = on.expand(x, shape);
       return v;
     }},
    {"aten::broadcast_to", [](Lower& on, V x, Dims sizes) { return expanded(on, x, std::move(sizes)); }},
    {"aten::cartesian_prod", fn<cartesian>},
    {"aten::combinations", fn<combinations>},
    {"aten::block_diag", fn<block_diagonal>, promote(0)},
    {"aten::meshgrid", [](Lower& on, Vs v) { return meshgrid(on, std::move(v), "ij"); }},
    {"aten::meshgrid.indexing", [](Lower& on, Vs v, Str indexing) { return meshgrid(on, std::move(v), indexing); }},
    {"aten::clone", [](Lower&, V x) { return x; }},
    {"aten::flatten.using_ints", fn<flatten>},
    {"aten::ravel", [](Lower& on, V x) { return on.reshape(x, {element_count(on.shape(x))}); }},
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
    {"aten::flip", fn<flip>},
    {"aten::fliplr", [](Lower& on, V x) { return flipped(on, x, 1); }},
    {"aten::flipud", [](Lower& on, V x) { return flipped(on, x, 0); }},
    {"aten::roll", fn<roll>},
    {"aten::rot90",
     [](Lower& on, V x, int64_t k, Ints dims) {
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
    {"aten::repeat_interleave.self_int", fn<repeat_interleave>},
    {"aten::repeat_interleave.Tensor",
     [](Lower& on, V repeats, Opt<Dim> size) { return repeat_places(on, repeats, size); }},
    {"aten::repeat_interleave.self_Tensor",
     [](Lower& on, V x, V repeats, Opt<int64_t> dim, Opt<Dim> size) {
       if (!dim) x = flat(on, x);
       const int64_t axis = dim ? on.axis(x, *dim) : 0;
       if (on.rank(repeats) == 0) repeats = on.unsqueeze(repeats, {0});
       return V(on.Gather(x, repeat_places(on, on.expand(repeats, {on.dim(x, axis)}), size), {.axis = axis}));
     }},
    {"aten::view_as_complex", fn<complex_of_pair>},
    {"aten::view_as_complex_copy", fn<complex_of_pair>},
    {"aten::view_as_real", fn<pair_of>},
    {"aten::view_as_real_copy", fn<pair_of>},
    {"aten::resolve_conj", fn<same>},
    {"aten::resolve_neg", fn<same>},
};

}  // namespace

std::span<const Row> torch_other_arranging_rows() { return table; }

}  // namespace cameo::lowering
