// Symbolic sizes of an archive: SymPy expressions, as constructor calls since PyTorch 2.6 and as formulas before.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json.h"
#include "ir/dim.h"

namespace cameo::pt2 {

// A size or integer: a number, or the text of an expression.
struct SymInt {
  std::optional<int64_t> literal;
  std::string_view expression;
  std::optional<int64_t> hint;  // its value when exported
};
SymInt sym_int(json::Value v);

using SymbolLookup = std::function<std::optional<Dim>(std::string_view name)>;
// nullopt where a symbol is unknown or the expression is not one of integers that dims can express.
std::optional<Dim> dim_of(std::string_view expression, const SymbolLookup& symbol);

// "s77" of "Symbol('s77', positive=True, integer=True)" or of "s77"; empty when there is more to the expression.
std::string_view bare_symbol(std::string_view expression);
// Results that no node reads are called "NODE_unused_K" by torch.export.
bool is_unread(std::string_view result);
std::vector<std::string> symbols_in(std::string_view expression);

}  // namespace cameo::pt2
