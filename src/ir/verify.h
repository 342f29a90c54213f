// The graph's own rules: what must hold between any two passes. A model that breaks them was broken by us, not by its
// file.
#pragma once

#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace cameo::ir {

// All findings ("graph.*"): lists that do not link up, use lists that are not complete, values used where they cannot
// be seen or before they are computed, bodies that do not know their owner.
std::vector<Diag> structure_findings(const Model& m);

// Throws bug.invariant with the first finding. `when` says after what: "after pass cse".
void verify(const Model& m, std::string_view when);

}  // namespace cameo::ir
