#include "lowering/axes.h"

#include <utility>

#include "lowering/complex.h"
#include "lowering/forms.h"

namespace cameo::lowering {

V at_least_rank(Lower& on, V x, int64_t rank) {
  if (on.rank(x) >= rank) return x;
  if (on.rank(x) == 0) return on.reshape(x, Dims(static_cast<size_t>(rank), Dim(1)));
  if (rank == 2) return on.unsqueeze(x, {0});
  return on.rank(x) == 1 ? on.unsqueeze(x, {0, 2}) : on.unsqueeze(x, {2});
}

Vs all_at_least_rank(Lower& on, Vs parts, int64_t rank) {
  for (V& v : parts) v = at_least_rank(on, v, rank);
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

V roll(Lower& on, V x, Dims shifts, Ints dims) {
  if (dims.empty()) {
    const Dims shape = on.shape(x);
    return on.reshape(roll(on, on.reshape(x, {element_count(shape)}), shifts, {0}), shape);
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t axis = on.axis(x, dims[i]);
    const Dim size = on.dim(x, axis);
    if (size.is(0)) continue;
    const auto& facts = on.graph().facts;
    const Dim back = shifts[i] * -1,
              ahead = size + back;  // the first element of the result, where the shift is smaller than the size
    const auto inside = [&](Dim d) {
      return facts.less_equal(Dim(0), d) == Answer::yes && facts.less_equal(d, size) == Answer::yes;
    };
    const Dim at = size.is_literal() || !(inside(back) || inside(ahead)) ? facts.simplify(mod(back, size))
                   : inside(back)                                        ? back
                                                                         : ahead;
    if (at.is(0)) continue;
    x = on.concat({on.slice(x, axis, at, size), on.slice(x, axis, Dim(0), at)}, axis);
  }
  return x;
}

Broadcast broadcast_both(Lower& on, V a, V b) {
  const Dims shape = broadcast_shapes(on.shape(a), on.shape(b));
  return {on.expand(a, shape), on.expand(b, shape)};
}

Ints axes_or_all(Lower& on, V x, const Opt<Ints>& dims) {
  return dims && !dims->empty() ? on.axes(x, *dims) : on.all_axes(x);
}

V trimmed(Lower& on, V x, int64_t axis, Dim from, Dim less) { return on.slice(x, axis, from, on.dim(x, axis) - less); }

V differences(Lower& on, V x, int64_t axis) {
  const V later = trimmed(on, x, axis, Dim(1), Dim(0)), earlier = trimmed(on, x, axis, Dim(0), Dim(1));
  return on.is_bool(x) ? V(on.Xor(later, earlier)) : V(on.Sub(later, earlier));
}

}  // namespace cameo::lowering
