// Smaller graphs that compute the same: rules, folding, common subexpressions and dead code to a fixed point.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "passes/rewriter.h"

namespace cameo::passes {

struct SimplifyOptions {
  int64_t opset = 0;                    // of ai.onnx, that the result is written for; 0: the model's own
  std::vector<std::string> skip, only;  // names of rules; an unknown one throws use.rule
  bool exact = false;                   // only rules that keep every bit
  bool freeze_initializers = false;     // weights that are also inputs become constants
  bool fuse = true;                     // make bigger standard operators of several (Gelu, LayerNormalization, ...)
  bool fold = true;                     // compute what depends only on constants
  bool sizes_may_be_zero = false;       // else named sizes of inputs are taken to be at least 1
  bool try_branches = true;             // find out which branches a model cannot run after
  int64_t unroll = 0;                   // loops with at most so many rounds are unrolled; one round always
  std::set<std::string> veto;           // keys of applications to leave out (Application::key)
  size_t limit = SIZE_MAX;              // stop after so many applications
  bool keep_misses = false;             // collect why near matches were none
  std::function<void(const Model&)> before;  // called once types are inferred and nothing is rewritten yet
};

struct SimplifyResult {
  std::vector<Application> ledger;
  std::vector<NearMiss> misses;
  std::vector<Diag> warnings;  // about the model as it came
  size_t rounds = 0;
};

// Types are inferred on the way, and stay in the graph. Inputs and outputs of the model keep names, order and types.
// Throws what ops/soundness.h refuses; nodes that it sets aside stay as they are.
SimplifyResult simplify(Model& m, const SimplifyOptions& options = {});

struct RuleInfo {
  std::string_view name;
  RuleClass exactness;
};
std::vector<RuleInfo> rule_list();  // by name; whole-graph passes included

// Whole-graph passes (cse.cpp): each gives how often it applied.
size_t merge_equal_nodes(Graph& g, Rewriter& e);
size_t merge_equal_weights(Graph& g, Rewriter& e);
size_t split_slices(Graph& g, Rewriter& e);     // slices.cpp
size_t decide_by_trial(Model& m, Rewriter& e);  // branches.cpp

}  // namespace cameo::passes
