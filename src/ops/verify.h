// The graph's own rules: what must hold between any two passes. A model that breaks them was broken by us, not by its
// file.
#pragma once

#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace cameo::ops {

struct VerifyOptions {
  bool schemas = true;  // arities and operand types too, which a file may break as well
};

// All findings ("graph.*"): lists that do not link up, use lists that are not complete, values used where they cannot
// be seen or before they are computed, bodies that do not know their owner, operands and types no schema admits.
std::vector<Diag> verify_findings(const Model& m, const VerifyOptions& options = {});

// Throws bug.invariant with the first finding about structure. `when` says after what: "after pass cse".
void verify(const Model& m, std::string_view when);

}  // namespace cameo::ops
