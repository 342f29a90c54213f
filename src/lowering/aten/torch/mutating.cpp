// torch, Indexing, Slicing, Joining, Mutating Ops: the same elements with other axes; conjugates.
#include <algorithm>
#include <utility>

#include "lowering/axes.h"
#include "lowering/complex.h"
#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

V conj(Lower& on, V x) { return is_complex(on.dtype(x)) ? conjugate(on, x) : x; }

V swap_axes(Lower& on, V x, int64_t a, int64_t b) {
  Ints perm = on.all_axes(x);
  if (perm.empty()) return x;
  std::swap(perm[static_cast<size_t>(on.axis(x, a))], perm[static_cast<size_t>(on.axis(x, b))]);
  return on.transpose(x, perm);
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

constexpr Row table[] = {
    {"aten::adjoint", fn<adjoint>},
    {"aten::conj", fn<conj>},
    {"aten::_conj", fn<conj>},
    {"aten::conj_physical", fn<conj>},
    {"aten::_conj_physical", fn<conj>},
    {"aten::movedim.intlist", fn<moved>},
    {"aten::movedim.int", [](Lower& on, V x, int64_t a, int64_t b) { return on.rank(x) ? moved(on, x, {a}, {b}) : x; }},
    {"aten::permute", [](Lower& on, V x, Ints dims) { return on.transpose(x, on.axes(x, dims)); }},
    {"aten::permute_copy", [](Lower& on, V x, Ints dims) { return on.transpose(x, on.axes(x, dims)); }},
    {"aten::reshape", [](Lower& on, V x, Dims sizes) { return on.reshape(x, solve_sizes(on, x, std::move(sizes))); }},
    {"aten::squeeze", [](Lower& on, V x) { return squeeze_dims(on, x, on.all_axes(x)); }},
    {"aten::squeeze.dim", [](Lower& on, V x, int64_t dim) { return squeeze_dims(on, x, {dim}); }},
    {"aten::squeeze.dims", [](Lower& on, V x, Ints dims) { return squeeze_dims(on, x, dims); }},
    {"aten::squeeze_copy", [](Lower& on, V x) { return squeeze_dims(on, x, on.all_axes(x)); }},
    {"aten::squeeze_copy.dim", [](Lower& on, V x, int64_t dim) { return squeeze_dims(on, x, {dim}); }},
    {"aten::squeeze_copy.dims", [](Lower& on, V x, Ints dims) { return squeeze_dims(on, x, dims); }},
    {"aten::swapaxes", fn<swapped>},
    {"aten::swapdims", fn<swapped>},
    {"aten::t", [](Lower& on, V x) { return on.rank(x) < 2 ? x : swap_axes(on, x, 0, 1); }},
    {"aten::t_copy", [](Lower& on, V x) { return on.rank(x) < 2 ? x : swapped(on, x, 0, 1); }},
    {"aten::transpose.int", fn<swap_axes>},
    {"aten::transpose_copy.int", fn<swapped>},
    {"aten::unsqueeze",
     [](Lower& on, V x, int64_t dim) { return on.unsqueeze(x, {dim < 0 ? dim + on.rank(x) + 1 : dim}); }},
    {"aten::unsqueeze_copy",
     [](Lower& on, V x, int64_t d) { return on.unsqueeze(x, {d < 0 ? d + on.rank(x) + 1 : d}); }},
};

}  // namespace

std::span<const Row> torch_mutating_rows() { return table; }

}  // namespace cameo::lowering
