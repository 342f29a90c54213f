// Simplification that is tried out: the model before and after on the same inputs, and the rewrite at fault undone.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ops/custom.h"
#include "passes/simplify.h"
#include "runtime/compare.h"
#include "support/error.h"

namespace cameo::api {

struct CheckOptions {
  int64_t inputs = 3;                    // how many sets: signed, large, zero; symbolic sizes 1, 2, 3, ...
  std::map<std::string, int64_t> sizes;  // named sizes that are given; others vary
  ops::CustomOps kernels;                // of the caller's own
  Tolerance tolerance;  // unset: by element type, absolute in proportion to the output's largest number
};

struct CheckedResult {
  SimplifyResult result;
  std::vector<Application> undone;   // at fault, found by bisection, and left out
  size_t compared = 0;               // sets of inputs on which both ran
  std::vector<std::string> skipped;  // why others were not
  double worst = 0;                  // largest difference that was tolerated
};

// The inputs of one set: signed numbers near 1, then large ones, then mostly zeros, and so on; symbolic sizes differ
// from set to set. Throws simplify.inputs for inputs that are not tensors of numbers.
std::vector<Datum> made_up_inputs(const ir::Graph& g, int64_t set, const CheckOptions& check);

// Like simplify_for_opset. The engine runs the models. Throws simplify.differs where leaving out rewrites does not
// help.
CheckedResult simplify_checked(ir::Model& m, int64_t opset, const SimplifyOptions& options, const CheckOptions& check,
                               DiagSink* diags = nullptr);

}  // namespace cameo::api
