// Arithmetic on polynomials that are not interned yet. All of it is exact; overflow throws "dim.overflow".
#pragma once

#include <optional>

#include "ir/dim_table.h"

namespace cameo::ir {

Poly add(const Poly& a, const Poly& b, int64_t scale_of_b = 1);  // a + scale * b
Poly scale(Poly p, int64_t by);
Poly multiply(DimTable& table, const Poly& a, const Poly& b);
// Precondition: `by` divides every coefficient and the constant.
Poly divide_exactly(Poly p, int64_t by);
Poly single(const DimAtom* atom);

// The greatest common divisor of the coefficients, without the constant; 0 for a literal.
int64_t content(const Poly& p);
int64_t common_divisor(int64_t a, int64_t b);  // >= 0; INT64_MIN counts as overflow

// The factors that both have.
std::vector<Factor> common_factors(const std::vector<Factor>& a, const std::vector<Factor>& b);
// Null when `by` does not divide `m`; the empty vector when they are equal.
std::optional<std::vector<Factor>> divide(const std::vector<Factor>& m, const std::vector<Factor>& by);
// p / m, where m divides every term and there is no constant.
Poly divide_by_factors(DimTable& table, const Poly& p, const std::vector<Factor>& m);

// q with a == q * b, when there is one and it is found in few steps. Precondition: b is not 0.
std::optional<Poly> exact_quotient(DimTable& table, const Poly& a, const Poly& b);

}  // namespace cameo::ir
