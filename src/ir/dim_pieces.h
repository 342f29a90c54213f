// A polynomial cut into what is printed: terms, and the modulos that hide in it.
#pragma once

#include "ir/dim_expr.h"

namespace cameo::ir {

struct Piece {
  int64_t coefficient = 1;
  const Monomial* monomial = nullptr;  // else a modulo, when `modulus` is not 0; else the constant
  int64_t modulus = 0;
  Poly dividend;  // of the modulo
};

// The sum of the pieces is `p`. Positive ones come first when the first would be negative.
std::vector<Piece> pieces_of(const Poly& p);

}  // namespace cameo::ir
