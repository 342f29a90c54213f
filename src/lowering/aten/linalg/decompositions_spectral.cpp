// torch.linalg, Decompositions: eigenvalues of symmetric matrices and singular values.
#include "lowering/aten/linalg/matrix.h"
#include "lowering/aten/linalg/spectrum.h"
#include "lowering/call_row.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

V eigenvalues(Lower& on, V a, Str half) {
  if (on.dim(a, -1).is(0)) return on.full(without_last(on.shape(a), 1), Num(0.0), on.dtype(a));
  return on.to(sorted_values(on, spectrum_of(on, symmetric(on, a, half == "U")).values, false), on.dtype(a));
}

constexpr Row table[] = {
    {"aten::linalg_eigvalsh", fn<eigenvalues>},
    {"aten::_linalg_eigh",
     [](Lower& on, V a, Str which, bool vectors) {
       if (vectors) unsupported("eigenvectors");
       return std::tuple<V, V>{result(call_row(on, "aten::linalg_eigvalsh", {Arg(a), Arg(which)})),
                               on.full({Dim(0)}, Num(0.0), on.dtype(a))};
     }},
    {"aten::_linalg_svd",
     [](Lower& on, V a, bool, bool vectors) {
       if (vectors) unsupported("singular vectors");
       const V none = on.full({Dim(0)}, Num(0.0), on.dtype(a));
       return std::tuple<V, V, V>{none, singular_values(on, a), none};
     }},
    {"aten::linalg_svdvals", [](Lower& on, V a) { return singular_values(on, a); }},
};

}  // namespace

std::span<const Row> linalg_decompositions_spectral_rows() { return table; }

}  // namespace cameo::lowering
