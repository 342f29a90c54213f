// What the files that implement Dim's operations share.
#pragma once

#include "ir/dim_poly.h"

namespace cameo::ir {

// Interns the result of `op` on a and b, or has a symbol stand for it when it is too big.
Dim finish(DimTable& table, DimOp op, Dim a, Dim b, Poly p);

// Without looking for what cancels in min and max: what is printed must be read back as it is.
Dim plain_sum(DimTable& table, Dim a, Dim b);
Dim plain_difference(DimTable& table, Dim a, Dim b);

// Runs `make` if its result is not in the cache.
template <class Make>
Dim once(DimTable& table, DimOp op, Dim a, Dim b, Make make) {
  if (const auto past = table.remembered(op, a, b)) return *past;
  return table.remember(op, a, b, make());
}

// The operations inside a table. Both operands may be literals, as in parsing and substitution.
Dim extremum(DimTable& table, bool is_max, std::vector<Dim> args);
Dim broadcast_all(DimTable& table, std::vector<Dim> args);
Dim opaque_in(DimTable& table, std::string_view function, std::span<const Dim> args);
// The atom again, with other arguments.
Dim rebuild(DimTable& table, const DimAtom& a, std::vector<Dim> args);

}  // namespace cameo::ir
