#include "ir/dim_name.h"

#include "ir/dim_table.h"
#include "support/error.h"

namespace cameo::ir {

namespace {
// Whether the expression is over sizes of this model. Where it is over none, it is as good a name as any.
bool names_another(const DimExpr& own, Dim expression) {
  for (const Dim symbol : symbols_of(expression))
    if (own.table->has_symbol(symbol_name(symbol))) return true;
  return false;
}
}  // namespace

std::string name_or_text(Dim d) {
  if (!d.is_symbol()) return d.text();
  const std::string name(symbol_name(d));
  if (d.text() == name || name.empty()) return d.text();
  if (d.expr()->table->is_plain(name)) return name;
  try {
    DimContext scratch;
    const Dim read = parse_dim(scratch, name);
    if (!read.is_literal() && read.text() == name && names_another(*d.expr(), read)) return d.text();
  } catch (const Error&) {}
  return name;
}

}  // namespace cameo::ir
