#include "ir/dim_name.h"

#include "support/error.h"

namespace cameo::ir {

std::string name_or_text(Dim d) {
  if (!d.is_symbol()) return d.text();
  const std::string name(symbol_name(d));
  if (d.text() == name || name.empty()) return d.text();
  try {
    DimContext scratch;
    if (const Dim read = parse_dim(scratch, name); !read.is_literal() && read.text() == name) return d.text();
  } catch (const Error&) {}
  return name;
}

}  // namespace cameo::ir
