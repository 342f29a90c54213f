// The functions that dim text knows, and how names are quoted.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "support/layers.h"

namespace cameo::ir {

enum class DimFunction : uint8_t { floor, ceil, trunc, floor_div, ceil_div, trunc_div, mod, min, max, broadcast };

// Null for any other name: an opaque function.
std::optional<DimFunction> dim_function(std::string_view name);
// `name` itself when it is a plain identifier, else 'name' with \', \\ and \xNN escapes.
void append_name(std::string& out, std::string_view name);
void append_quoted(std::string& out, std::string_view name);

}  // namespace cameo::ir
