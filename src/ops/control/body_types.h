// What holds for a body that runs again and again: types on entry of every iteration.
#pragma once

#include <vector>

#include "ops/infer.h"

namespace cameo::ops {

// Everything a trial inference of a body changes, so that it can be undone: facts of the body's values, facts about
// dims, the driver's findings.
class BodySnapshot {
 public:
  BodySnapshot(Infer& c, RegionId body);
  void restore();      // as if the body had not been inferred
  void forget_dims();  // keeps what was found out about values, but no facts about dims: the body may not run at all
  void forget_findings();

 private:
  Infer& c_;
  std::vector<std::pair<ValueId, Fact>> facts_;
  size_t dim_facts_, findings_;
};

struct LoopTypes {
  std::vector<Type> carried;  // true before the first iteration and after every one
  std::vector<Fact> outputs;  // of the body, given those
  std::vector<Dim> widened;   // sizes that change from one iteration to the next, by the symbols that stand for them

  // The type outside of the body: a size that changes from iteration to iteration has another symbol there.
  Type outside(const Type& t, Infer& c) const;
};

// Infers region 0 with inputs `before`, the carried values, `after`; of its outputs `skipped` come before the carried
// ones. A carried size that an iteration changes becomes a fresh symbol, a rank that changes unknown, until all hold.
LoopTypes infer_carried(Infer& c, const std::vector<Fact>& before, const std::vector<Fact>& initial,
                        const std::vector<Fact>& after, size_t skipped);

// A body's input that is given what it does not declare.
Diag body_contradiction(const Graph& g, NodeId node, ValueId input, const Type& given);

}  // namespace cameo::ops
