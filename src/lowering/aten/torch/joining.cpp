// torch, Indexing, Slicing, Joining, Mutating Ops: tensors put together.
#include <numeric>

#include "lowering/axes.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

V tile(Lower& on, V x, Dims repeats) {
  while (static_cast<int64_t>(repeats.size()) < on.rank(x)) repeats.insert(repeats.begin(), Dim(1));
  Ints lead(repeats.size() - static_cast<size_t>(on.rank(x)));
  std::iota(lead.begin(), lead.end(), 0);
  return on.Tile(on.unsqueeze(x, lead), on.int_vector(repeats));
}

V cat_tensors(Lower& on, Vs parts, int64_t dim) {
  // Legacy: empty 1-d tensors are skipped, all but one where there is nothing else.
  const V first = parts[0];
  std::erase_if(parts, [&](V v) { return on.rank(v) == 1 && on.dim(v, 0).is(0); });
  if (parts.empty()) return first;
  return on.concat(parts, on.axis(parts[0], dim));
}

// Each tensor cut into `count` equal pieces along an axis, the last ones filled up with zeros; piece by piece side by
// side.
V chunk_cat(Lower& on, Vs parts, int64_t dim, int64_t count) {
  const int64_t axis = on.axis(parts[0], dim);
  for (V& v : parts) {
    const Dim size = on.dim(v, axis), whole = ceil_div(size, Dim(count)) * Dim(count);
    Dims pads(static_cast<size_t>(on.rank(v)) * 2, Dim(0));
    pads[static_cast<size_t>(on.rank(v) + axis)] = whole - size;
    const Dims s = on.shape(v);
    Dims out(s.begin(), s.begin() + axis);
    const Dims tail(s.begin() + axis + 1, s.end());
    out.insert(out.end(), {Dim(count), floor_div(whole, Dim(count)) * element_count(tail)});
    v = on.reshape(whole == size ? v : V(on.Pad(v, on.int_vector(pads))), out);
  }
  return on.concat(parts, axis + 1);
}

constexpr Row table[] = {
    {"aten::cat", [](Lower& on, Vs parts, int64_t dim) { return cat_tensors(on, std::move(parts), dim); }, promote(0)},
    {"aten::concat", [](Lower& on, Vs v, int64_t dim) { return on.concat(v, on.axis(v[0], dim)); }, promote(0)},
    {"aten::stack",
     [](Lower& on, Vs parts, int64_t dim) {
       const int64_t axis = dim < 0 ? dim + on.rank(parts[0]) + 1 : dim;
       for (V& v : parts) v = on.unsqueeze(v, {axis});
       return on.concat(parts, axis);
     },
     promote(0)},
    {"aten::hstack",
     [](Lower& on, Vs v) {
       v = all_at_least_rank(on, std::move(v), 1);
       return on.concat(v, on.rank(v[0]) == 1 ? 0 : 1);
     },
     promote(0)},
    {"aten::vstack", [](Lower& on, Vs v) { return on.concat(all_at_least_rank(on, std::move(v), 2), 0); }, promote(0)},
    {"aten::dstack", [](Lower& on, Vs v) { return on.concat(all_at_least_rank(on, std::move(v), 3), 2); }, promote(0)},
    {"aten::column_stack",
     [](Lower& on, Vs v) {
       for (V& x : v) x = on.rank(x) < 2 ? on.reshape(x, {element_count(on.shape(x)), Dim(1)}) : x;
       return on.concat(v, 1);
     },
     promote(0)},
    {"aten::tile", fn<tile>},
    {"aten::_chunk_cat", fn<chunk_cat>},
};

}  // namespace

std::span<const Row> torch_joining_rows() { return table; }

}  // namespace cameo::lowering
