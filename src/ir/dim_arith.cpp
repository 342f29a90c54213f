#include "ir/checked.h"
#include "ir/dim_build.h"
#include "support/error.h"

namespace cameo {

void dim_overflow() {
  throw error("dim.overflow", "a size does not fit into 64 bits").why("sizes are computed exactly and never wrap");
}

Dim finish(DimTable& table, DimOp op, Dim a, Dim b, Poly p) {
  if (DimTable::fits(p)) return table.intern(std::move(p));
  return table.stand_in(op, {a, b}, "", interval_of(p));
}

Dim operator+(Dim a, Dim b) {
  if (a.is_literal() && b.is_literal()) return checked_add(a.literal(), b.literal());
  if (a.is(0)) return b;
  if (b.is(0)) return a;
  DimTable& table = *common_table(a, b);
  if (compare(b, a) < 0) std::swap(a, b);
  return once(table, DimOp::add, a, b, [&] { return finish(table, DimOp::add, a, b, add(Poly(a), Poly(b))); });
}

Dim operator-(Dim a, Dim b) {
  if (a.is_literal() && b.is_literal()) return checked_sub(a.literal(), b.literal());
  if (b.is(0)) return a;
  if (a == b) return 0;
  DimTable& table = *common_table(a, b);
  return once(table, DimOp::subtract, a, b,
              [&] { return finish(table, DimOp::subtract, a, b, add(Poly(a), Poly(b), -1)); });
}

Dim operator-(Dim a) { return Dim(0) - a; }

Dim operator*(Dim a, Dim b) {
  if (a.is_literal() && b.is_literal()) return checked_mul(a.literal(), b.literal());
  if (a.is(0) || b.is(0)) return 0;
  if (a.is(1)) return b;
  if (b.is(1)) return a;
  DimTable& table = *common_table(a, b);
  if (compare(b, a) < 0) std::swap(a, b);
  return once(table, DimOp::multiply, a, b,
              [&] { return finish(table, DimOp::multiply, a, b, multiply(table, Poly(a), Poly(b))); });
}

}  // namespace cameo
