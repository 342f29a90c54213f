// The inside of a Session: plans per sizes, and runs that use them.
#pragma once

#include <atomic>

#include "engine/compiler.h"
#include "engine/plan_cache.h"
#include "engine/session.h"

namespace cameo::engine {

class Runner {
 public:
  Runner(Model model, const SessionOptions& options);
  std::vector<Datum> run(std::span<const Datum> inputs, std::vector<StepTime>* times, const OutputMemory& lent,
                         const Observer& observer);

  Model model;
  SessionOptions options;
  Store store;
  ArenaPool arenas;
  std::atomic<uint64_t> largest_arena{0};

 private:
  friend class Run;
  std::shared_ptr<Compiled> plan_main(const Graph& base, std::span<const ValueId> given, std::span<const Datum> inputs);
  const Graph& open_base();
  // Nodes of a plan's graph, on values that are at hand now.
  std::shared_ptr<Compiled> plan_rest(const Plan& outer, std::span<const ValueId> inputs, std::span<const Datum> values,
                                      const Wanted& wanted, bool interpret);
  // `inputs` are the body's own and what it reads from around.
  std::shared_ptr<Compiled> plan_body(const Plan& outer, RegionId body, std::span<const ValueId> inputs,
                                      std::span<const Datum> values, bool any_sizes);
  std::shared_ptr<Compiled> finish(std::shared_ptr<Graph> g, const CheckedNodes& nodes, std::span<const ValueId> inputs,
                                   const Wanted& wanted, bool interpret, BaseValues base);

  int rests_planned_ = 0;
  Graph base_;                        // prepared, sizes open; inputs with defaults are constants
  Graph empty_;                       // over the same dims, with nothing in it
  std::unique_ptr<Graph> open_base_;  // the same where such inputs may be given; made when one is
  std::mutex open_mutex_;
  PlanCache plans_;
  std::atomic<uint64_t> random_{0};
};

}  // namespace cameo::engine
