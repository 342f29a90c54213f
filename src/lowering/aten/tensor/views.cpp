// torch.Tensor: other shapes of the same elements.
#include <algorithm>

#include "lowering/axes.h"
#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

V reversed(Lower& on, V x) {
  Ints perm = on.all_axes(x);
  std::reverse(perm.begin(), perm.end());
  return on.transpose(x, perm);
}

V unfold(Lower& on, V x, int64_t dim, Dim size, Dim step) {
  if (on.rank(x) == 0) return on.unsqueeze(x, {0});
  const int64_t axis = on.axis(x, dim);
  const Dim count = floor_div(on.dim(x, axis) - size, step) + Dim(1);
  const V starts = on.unsqueeze(
      on.Mul(on.Range(on.On::int_scalar(0), on.int_scalar(count), on.On::int_scalar(1)), on.int_scalar(step)), {1});
  const V at = on.Add(starts, on.Range(on.On::int_scalar(0), on.int_scalar(size), on.On::int_scalar(1)));
  const V y = on.Gather(x, at, {.axis = axis});
  on.graph().fact(y).type.shape->at(static_cast<size_t>(axis)) = count;
  return moved(on, y, {axis + 1}, {on.rank(y) - 1});
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

constexpr Row table[] = {
    {"aten::view", [](Lower& on, V x, Dims sizes) { return on.reshape(x, solve_sizes(on, x, std::move(sizes))); }},
    {"aten::view_copy", [](Lower& on, V x, Dims sizes) { return on.reshape(x, solve_sizes(on, x, std::move(sizes))); }},
    {"aten::_unsafe_view",
     [](Lower& on, V x, Dims sizes) { return on.reshape(x, solve_sizes(on, x, std::move(sizes))); }},
    {"aten::view_as", [](Lower& on, V x, V other) { return on.reshape(x, on.shape(other)); }},
    {"aten::reshape_as", [](Lower& on, V x, V other) { return on.reshape(x, on.shape(other)); }},
    {"aten::expand", [](Lower& on, V x, Dims sizes) { return expanded(on, x, std::move(sizes)); }},
    {"aten::expand_copy", [](Lower& on, V x, Dims sizes) { return expanded(on, x, std::move(sizes)); }},
    {"aten::expand_as", [](Lower& on, V x, V other) { return on.expand(x, on.shape(other)); }},
    {"aten::repeat",
     [](Lower& on, V x, Dims repeats) {
       if (repeats.size() < static_cast<size_t>(on.rank(x)))
         unsupported(cat("repeats for ", repeats.size(), " axes of a tensor that has ", on.rank(x)));
       Ints lead(repeats.size() - static_cast<size_t>(on.rank(x)));
       for (size_t i = 0; i < lead.size(); ++i) lead[i] = static_cast<int64_t>(i);
       return V(on.Tile(on.unsqueeze(x, lead), on.int_vector(repeats)));
     }},
    {"aten::unfold", fn<unfold>},
    {"aten::unfold_copy", fn<unfold>},
    {"aten::numpy_T", fn<reversed>},
    {"aten::mT", [](Lower& on, V x) { return swapped(on, x, -1, -2); }},
    {"aten::mH", fn<adjoint>},
    {"aten::matrix_H", fn<adjoint>},
    {"aten::resize", fn<resized>},
    {"aten::resize_as", [](Lower& on, V x, V like) { return resized(on, x, on.shape(like)); }},
    {"aten::sum_to_size",
     [](Lower& on, V x, Dims sizes) {
       Ints lead, ones;
       const int64_t extra = on.rank(x) - static_cast<int64_t>(sizes.size());
       for (int64_t i = 0; i < extra; ++i) lead.push_back(i);
       for (size_t i = 0; i < sizes.size(); ++i)
         if (sizes[i].is(1) && !on.dim(x, extra + static_cast<int64_t>(i)).is(1))
           ones.push_back(extra + static_cast<int64_t>(i));
       return reduce(on, Reduce::sum, reduce(on, Reduce::sum, x, ones, true), lead, false);
     }},
};

}  // namespace

std::span<const Row> tensor_views_rows() { return table; }

}  // namespace cameo::lowering
