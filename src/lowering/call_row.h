// Rows that are other spellings of another row call it.
#pragma once

#include <string_view>
#include <vector>

#include "lowering/row.h"

namespace cameo::lowering {

// Calls another row with its first arguments; the rest is None.
std::vector<Arg> call_row(Lower& on, std::string_view overload, std::vector<Arg> args);
V result(const std::vector<Arg>& results, size_t i = 0);  // of what call_row gave
Arg optional_arg(const Opt<V>& v);
Arg optional_arg(const Opt<DType>& t);

}  // namespace cameo::lowering
