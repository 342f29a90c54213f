// Smaller graphs that compute the same, and why a rewrite did or did not apply.
//
//   auto small = cameo::simplify(cameo::load("net.onnx"));
//   std::cout << small.model.node_count() << " nodes after " << small.ledger.size() << " rewrites\n";
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cameo/kernel.h"
#include "cameo/model.h"
#include "cameo/progress.h"
#include "cameo/stats.h"

namespace cameo {

// Of a model's local functions. Rules work on nodes, not inside functions.
enum class FunctionCalls : uint8_t {
  automatic,  // replaced by their nodes where rules can then remove some; else kept
  keep,
  inlined,
};

struct SimplifySettings {
  std::vector<std::string> skip = {}, only = {};  // names of rules; an unknown one throws use.rule
  std::vector<std::string> without = {};          // single rewrites to leave out: RULE@VALUE, as the ledger has them
  bool exact = false;                             // only rules that keep every bit
  bool freeze_initializers = false;               // weights that are also inputs become constants
  bool fuse = true;                // make bigger standard operators of several (Gelu, LayerNormalization, ...)
  bool fold = true;                // compute what depends only on constants
  bool sizes_may_be_zero = false;  // false: named sizes of inputs are assumed to be at least 1
  int unroll = 0;  // unroll loops of at most so many iterations; loops of one iteration are always unrolled
  FunctionCalls functions = FunctionCalls::automatic;
  bool shapes = true;  // write inferred shapes into the result, unless its file would grow by more than 1 %
  // Input shapes that are fixed first: {"x", {"1", "3", "224", "224"}}; a size may be a name.
  std::map<std::string, std::vector<std::string>> input_shapes = {};
  // Run the model before and after on so many sets of inputs; a rewrite that changes an output is found, undone and
  // named.
  int check = 0;
  std::map<std::string, int64_t> check_sizes = {};  // named sizes for that; others vary
  // The same by input: {"x", {5, 3, 224, 224}} gives the named sizes of x.
  std::map<std::string, std::vector<int64_t>> check_shapes = {};
  std::optional<double> rtol = {}, atol = {};  // its tolerance; default: 1e-3, and 1e-4 of an output's largest number
  std::vector<Kernel> kernels = {};            // of your own, for its runs (kernel.h)
  Progress progress = {};
};

struct Rewriting {
  std::string rule, kind;  // kind: "exact", "rounding", ...
  std::string value;       // the first value that was replaced
  size_t nodes_removed = 0, nodes_added = 0;
};

struct Simplified {
  Model model;
  std::vector<Rewriting> ledger;  // in order
  std::vector<Rewriting> undone;  // at fault, by `check`
  size_t rounds = 0;              // over the whole graph
  Stats before, after;
  size_t checked = 0;  // sets of inputs on which both ran
  double worst = 0;    // the largest difference that was tolerated
  std::vector<Diag> findings;
};

Simplified simplify(Model model, const SimplifySettings& settings = {});
std::string to_json(const Rewriting& r);   // one object, as in `--ledger`
std::string to_json(const Simplified& s);  // ledger, what was undone, and what the check found

struct RuleInfo {
  std::string name, kind;
};
std::vector<RuleInfo> rules();                          // every rule, by name
std::string to_json(const std::vector<RuleInfo>& all);  // a list of objects
// The rules that do what a pass of onnxoptimizer does ("fuse_bn_into_conv"), or the rule of this name; throws use.value
// for any other name. Empty: no rule does what the pass does.
std::vector<std::string> rules_of_pass(std::string_view pass);

struct Explanation {
  struct Place {
    std::string rule, value, why;  // why: empty where the rule applied
  };
  std::vector<Place> applied, refused;
  std::vector<std::string> waiting;  // rules that need a newer opset, with which
};
// Where rules applied and nearly did. `rule` empty: all of them. `opset` 0: the model's own.
Explanation explain(Model model, const std::string& rule = "", int opset = 0);
std::string to_json(const Explanation& e);  // one object with the lists

}  // namespace cameo
