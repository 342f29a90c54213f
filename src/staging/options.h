// How a program is staged.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace cameo::staging {

struct HostLowerings;
struct LentWeights;

enum class Fallback : uint8_t {
  none,      // operators without a lowering are errors, all listed at once
  aten,      // they become org.pytorch.aten::ATen nodes
  all_aten,  // so does every operator
  custom,    // they become nodes of their own domain
};

// Declared types of an operator that stays a foreign node: "f32[batch,3]", or an argument whose type it is ("arg0").
struct ForeignType {
  std::string op;  // "mylib::op"
  std::vector<std::string> results;
};

struct StageOptions {
  bool assume = true;                    // false: what one model can do for some sizes only is an error, not a guess
  std::vector<std::string> assumptions;  // conditions on sizes that the user knows to hold: "t != 1"
  bool asserts = false;                  // what the program raises on, a run does too; else dropped, with a note
  bool unroll = false;                   // loops with a known count: unrolled instead of kept
  std::optional<bool> training;          // what self.training is; nullopt: as stored
  bool change_literals = false;    // training = True that stands in the program becomes False; else it is reported
  bool fold = true;                // constants, weights seen otherwise, convolution with batch norm; false: as recorded
  bool weights_as_inputs = false;  // parameters and buffers are inputs of the graph, after all others
  Fallback fallback = Fallback::none;
  std::vector<ForeignType> types;
  std::shared_ptr<const Model> rules;         // its functions say what operators of the same name become; may be null
  std::shared_ptr<const HostLowerings> host;  // may be null
  std::shared_ptr<const LentWeights> lent;    // may be null
  // Budgets: statements run and parts of values visited (0: as limits() says); nodes recorded; calls inside calls;
  // nodes of an unrolled loop that could be kept; outputs that a returned value unfolds to; bytes of one string. The
  // heap has its own.
  size_t max_steps = 0, max_nodes = 2'000'000, max_depth = 400, max_unrolled_nodes = 4000, max_outputs = 10'000,
         max_text = size_t{16} << 20;
};

}  // namespace cameo::staging
