// Applies rules until none applies. The rewriter owns what every rule needs and none should repeat:
//   - a replacement has the old value's element type and a shape that is provably the same, or the rule said it proved
//   it;
//   - names of graph inputs and outputs survive; what a body gives out is made in that body;
//   - a rule that trades nodes at a loss is refused, so a value that others use as well blocks the match;
//   - constants do not outgrow what they replace, beyond an allowance for the whole model;
//   - rules that make what the target opset lacks are left out;
//   - nodes that ops/soundness.h sets aside are not looked at, neither as roots nor as what makes a value;
//   - places and names of what was replaced are kept;
//   - every application is recorded; every near match is, on request, with its reason.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "ops/soundness.h"
#include "passes/rule.h"

namespace cameo::passes {

struct Application {
  std::string_view rule;
  RuleClass exactness = RuleClass::exact;
  std::string value;              // the root's first named output
  size_t removed = 0, added = 0;  // nodes
  std::string key() const;        // names the application in another run over the same model
};

struct NearMiss {
  std::string_view rule;
  std::string value, why;
};

struct RewriterOptions {
  int64_t opset = 0;
  const std::vector<const Rule*>* rules = nullptr;
  const std::set<std::string>* veto = nullptr;  // keys of applications that must not happen
  size_t limit = SIZE_MAX;                      // how many applications may happen in all
  bool keep_misses = false;
  int64_t unroll = 0;
  bool exact = false;
  const Soundness* judged = nullptr;     // nodes that it sets aside are not looked at
  const EngineTarget* engine = nullptr;  // the engine's budgets and operators; null: those of a file
  bool real_sizes = false;               // of a run: what inference knows is as good as a constant
  bool bodies = true;                    // those of If, Loop and Scan too, and functions
  bool erase_unused = true;              // also what nobody read before
};

class Rewriter {
 public:
  Rewriter(Graph& g, const RewriterOptions& options);

  size_t run();  // to the fixed point; how many applications there were
  void push(NodeId n);
  void push_all();
  // For whole-graph passes: everybody reads `replacement` instead of `old`, whose node may then be dead.
  bool forward(ValueId old, ValueId replacement, std::string_view rule, RuleClass exactness);
  bool may_apply(std::string_view rule, ValueId root) const;
  bool understood(NodeId n) { return is_understood(g_, n, &standing_); }
  void record(std::string_view rule, RuleClass exactness, std::string value, size_t removed, size_t added);

  std::vector<Application> ledger;
  std::vector<NearMiss> misses;
  int64_t spare_bytes = 0;  // saved so far: by so much may folded constants grow

 private:
  struct Cost {
    size_t nodes = 0;
    uint64_t bytes = 0;
  };
  void visit(NodeId n);
  bool attempt(const Rule& r, NodeId n);
  std::string refuse(const Rule& r, Rewrite& rw, const GraphMark& mark);  // why not; empty: fine
  std::string refuse_types(const Rewrite& rw) const;
  std::string refuse_outputs(Rewrite& rw, const GraphMark& mark);
  bool stands_for_output(const Rewrite& rw, ValueId old, ValueId value) const;
  void sweep(const Rewrite& rw, const GraphMark& mark);
  Cost dying(NodeId root) const;
  Cost added(const GraphMark& mark) const;
  void commit(const Rule& r, Rewrite& rw, const GraphMark& mark);
  void take_place(const Rewrite& rw, size_t output, const GraphMark& mark);
  void note_origin(const Rewrite& rw, const GraphMark& mark);
  void erase_dead(NodeId n);
  void push_users(ValueId v);

  Graph& g_;
  const RewriterOptions& options_;
  std::unordered_map<std::string_view, std::vector<const Rule*>> by_root_;
  std::vector<const Rule*> for_all_;
  std::deque<NodeId> work_;
  std::vector<bool> queued_;
  std::vector<bool> varying_;  // Rewrite::varying
  uint32_t first_made_;        // Rewrite::first_made
  Standing standing_;          // Rewrite::standing
  Cost gain_old_, gain_new_;   // of the attempt that was just judged
};

std::string value_label(const Graph& g, ValueId v);  // its name, or "#12"

}  // namespace cameo::passes
