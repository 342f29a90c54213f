// torch.Tensor: x[i, j] with index tensors and masks, read and written.
#include <algorithm>
#include <utility>

#include "lowering/aten/torch/indexing.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

// x[..., i, ..., j, ...]: which axes are indexed, by which tensors (masks turned into positions).
struct Indices {
  Ints axes;
  Vs tensors;
  bool consecutive = true;
};

Indices analyse(Lower& on, const std::vector<Opt<V>>& list) {
  Indices out;
  int64_t axis = 0, last = -1;
  for (const auto& entry : list) {
    if (!entry) {
      ++axis;
      continue;
    }
    const bool mask = on.is_bool(*entry) || on.dtype(*entry) == DType::u8;
    const Vs parts = mask ? nonzero_positions(on, on.to(*entry, DType::boolean)) : Vs{on.to(*entry, DType::i64)};
    for (const V p : parts) {
      if (last >= 0 && axis != last + 1) out.consecutive = false;
      last = axis;
      out.axes.push_back(axis++);
      out.tensors.push_back(p);
    }
  }
  return out;
}

Ints indexed_first(Lower& on, V x, const Ints& axes) {
  Ints perm = axes;
  for (const int64_t a : on.all_axes(x))
    if (std::find(axes.begin(), axes.end(), a) == axes.end()) perm.push_back(a);
  return perm;
}

// The index tensors broadcast together and stacked along a new last axis, as GatherND and ScatterND want them.
V stacked(Lower& on, const Vs& tensors) {
  Dims shape = on.shape(tensors[0]);
  for (const V t : tensors) {
    Dims other = on.shape(t);
    if (other.size() > shape.size()) std::swap(other, shape);
    for (size_t i = 0; i < other.size(); ++i) {
      Dim& d = shape[shape.size() - other.size() + i];
      d = broadcast(d, other[i]);
    }
  }
  Vs parts;
  for (const V t : tensors) parts.push_back(on.unsqueeze(on.expand(t, shape), {static_cast<int64_t>(shape.size())}));
  return on.concat(parts, static_cast<int64_t>(shape.size()));
}

V index(Lower& on, V x, std::vector<Opt<V>> list) {
  const Indices ix = analyse(on, list);
  if (ix.axes.empty()) return x;
  if (ix.axes.size() == 1) return on.Gather(x, ix.tensors[0], {.axis = ix.axes[0]});
  const V at = stacked(on, ix.tensors);
  const V y = on.GatherND(on.transpose(x, indexed_first(on, x, ix.axes)), at);
  if (!ix.consecutive || ix.axes[0] == 0) return y;
  // The indexed part goes back to where the first indexed axis was.
  const int64_t front = on.rank(at) - 1, before = ix.axes[0];
  Ints perm;
  for (int64_t i = 0; i < before; ++i) perm.push_back(front + i);
  for (int64_t i = 0; i < front; ++i) perm.push_back(i);
  for (int64_t i = front + before; i < on.rank(y); ++i) perm.push_back(i);
  return on.transpose(y, perm);
}

V index_put(Lower& on, V x, std::vector<Opt<V>> list, V values, bool accumulate) {
  values = on.to(values, on.dtype(x));
  if (list.size() == 1 && list[0] && on.is_bool(*list[0]) && !accumulate && on.rank(values) == 0) {
    Ints tail;
    for (int64_t i = on.rank(*list[0]); i < on.rank(x); ++i) tail.push_back(i);
    return on.Where(on.unsqueeze(*list[0], tail), values, x);
  }
  const Indices ix = analyse(on, list);
  if (ix.axes.empty()) return on.expand(values, on.shape(x));
  const V at = ix.tensors.size() == 1 ? on.unsqueeze(ix.tensors[0], {on.rank(ix.tensors[0])}) : stacked(on, ix.tensors);
  const Ints perm = indexed_first(on, x, ix.axes);
  const V moved = on.transpose(x, perm);
  const int64_t front = on.rank(at) - 1, before = ix.consecutive ? ix.axes[0] : 0;
  // Values come in the shape that reading gives: the rest before the index, the index, the rest after.
  Dims sizes;
  const auto indexed = static_cast<int64_t>(ix.axes.size());
  for (int64_t i = 0; i < before; ++i) sizes.push_back(on.dim(moved, indexed + i));
  for (int64_t i = 0; i < front; ++i) sizes.push_back(on.dim(at, i));
  for (int64_t i = indexed + before; i < on.rank(moved); ++i) sizes.push_back(on.dim(moved, i));
  V updates = on.expand(values, sizes);
  Ints order;
  for (int64_t i = 0; i < front; ++i) order.push_back(before + i);
  for (int64_t i = 0; i < before; ++i) order.push_back(i);
  for (int64_t i = front + before; i < on.rank(updates); ++i) order.push_back(i);
  updates = on.transpose(updates, order);
  const V put = on.ScatterND(moved, at, updates, {.reduction = accumulate ? "add" : "none"});
  Ints back(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) back[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  return on.transpose(put, back);
}

// Places outside the tensor are only named where the mask is off.
std::vector<Opt<V>> clamped(Lower& on, V x, std::vector<Opt<V>> list) {
  for (size_t i = 0; i < list.size(); ++i)
    if (list[i]) {
      const Dim size = on.dim(x, static_cast<int64_t>(i));
      const V low = on.int_scalar(-size), high = on.int_scalar(size - Dim(1));
      list[i] = V(on.Min(std::vector<ValueId>{on.Max(std::vector<ValueId>{on.to(*list[i], DType::i64), low}), high}));
    }
  return list;
}

constexpr Row table[] = {
    {"aten::index.Tensor", fn<index>},
    {"aten::index.Tensor_hacked_twin", fn<index>},
    {"aten::_unsafe_index.Tensor", fn<index>},
    {"aten::index_put", fn<index_put>},
    {"aten::index_put.hacked_twin", fn<index_put>},
    {"aten::_unsafe_index_put", fn<index_put>},
    {"aten::_unsafe_masked_index",
     [](Lower& on, V x, V mask, std::vector<Opt<V>> list, Num fill) {
       return V(on.Where(mask, index(on, x, clamped(on, x, list)), on.scalar_like(fill, x)));
     }},
    {"aten::_unsafe_masked_index_put_accumulate",
     [](Lower& on, V x, V mask, std::vector<Opt<V>> list, V values) {
       return index_put(on, x, clamped(on, x, list), on.Where(mask, values, on.number_like(0, values)), true);
     }},
};

}  // namespace

std::span<const Row> tensor_indexing_rows() { return table; }

}  // namespace cameo::lowering
