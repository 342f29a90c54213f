#include "lowering/aten/nn_functional/windows.h"

namespace cameo::lowering {

Ints doubled(const Ints& v) {
  Ints out = v;
  out.insert(out.end(), v.begin(), v.end());
  return out;
}

Ints spread(Ints v, int64_t n) {
  if (v.size() == 1) v.assign(static_cast<size_t>(n), v[0]);
  if (v.size() != static_cast<size_t>(n))
    unsupported(cat(v.size(), " numbers for windows over ", n, n == 1 ? " axis" : " axes"));
  return v;
}

}  // namespace cameo::lowering
