// A dim's structure, one level at a time, for code that turns it into graph nodes, code or a report. It is what text()
// prints: a modulo is a modulo here, however the normal form stores it.
#pragma once

#include "ir/dim.h"

namespace cameo::ir {

enum class DimForm : uint8_t { literal, symbol, sum, product, floor_div, trunc_div, mod, min, max, broadcast, opaque };

struct DimView {
  DimForm form = DimForm::literal;
  int64_t literal = 0;    // literal
  std::string_view name;  // symbol, opaque; lives as long as the context
  // sum: two or more addends, as printed. product: two or more factors, a literal (perhaps negative) first if there is
  // one. floor_div, trunc_div, mod: dividend and divisor. min, max, broadcast: two or more. opaque: its arguments.
  std::vector<Dim> args;
};

DimView view_of(Dim d);

// The same, but a symbol that stands for an expression too large to keep is seen as that expression.
DimView whole_view_of(Dim d);

}  // namespace cameo::ir
