// A condition on sizes that a model needs, as written in its metadata: "t != 1; n == 2*m".
#pragma once

#include "ir/dim_facts.h"

namespace cameo::ir {

struct SizeRelation {
  enum class Is : uint8_t { equal, not_equal, less, less_equal } is;
  Dim a, b;
  std::string text() const;  // "t != 1"
  // Under an assignment of the symbols; nullopt where one of them is missing.
  std::optional<bool> holds(std::span<const Substitution> sizes) const;
  // Records it. No: it contradicts what is known.
  Answer assume(DimFacts& facts, FactOrigin origin) const;
};

// One condition; also >, >=, and chains as in Python: 2 <= t <= 64. Throws "text.dim".
std::vector<SizeRelation> parse_conditions(DimContext& context, std::string_view text);

// Where a model says what it needs.
constexpr std::string_view assumptions_key = "cameo.assumptions";
// Sizes that were declared as possibly 0, against the convention: "0 <= n".
constexpr std::string_view empty_sizes_key = "cameo.empty-sizes";
std::string joined_text(std::span<const SizeRelation> conditions);
std::vector<SizeRelation> split_conditions(DimContext& context,
                                           std::string_view text);  // of metadata; what cannot be read is left out

}  // namespace cameo::ir
