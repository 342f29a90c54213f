// Runs a plan with memory of its own.
#pragma once

#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include "engine/plan.h"
#include "engine/session.h"
#include "kernels/datum.h"

namespace cameo::engine {

// What a run needs besides its plan and its inputs.
struct Hooks {
  // Runs a body; `outer` reads a value that the body takes from around it.
  std::function<std::vector<Datum>(const Plan& plan, RegionId region, std::vector<Datum> args,
                                   const std::function<Datum(ValueId)>& outer)>
      run_region;
  std::function<uint64_t()> seed;
  std::function<void(const Plan& plan, const Step& step, double start_us, double length_us)> timed;  // may be empty
  Observer observed;                                                                                 // may be empty
};

// Arenas of a session that no run uses at the moment. All its plans share them: sizes that change on and on cost as
// much memory as the largest of them.
class ArenaPool {
 public:
  Bytes take(uint64_t size);  // at least that large
  void give_back(Bytes arena);

 private:
  std::mutex mutex_;
  std::vector<Bytes> free_;
};

// What a run needs besides its arena: one run at a time; reused by later runs of the same plan.
class Frame {
 public:
  explicit Frame(std::shared_ptr<const Plan> plan);
  // Before a run, and after it.
  void enter(Bytes arena);
  Bytes leave();
  // `inputs` as the plan's. Absent outputs (of the rest) are Kind::none.
  std::vector<Datum> run(std::span<const Datum> inputs, const Hooks& hooks, const OutputMemory& lent = {});
  Datum read(SlotId s) const;  // after run(): what the rest needs
  const Plan& plan() const { return *plan_; }

 private:
  void drop();  // lets go of what the last run left
  void start(std::span<const Datum> inputs, const OutputMemory& lent);
  void execute(const Step& s, size_t number);
  void interpret(const Step& s, const Hooks& hooks);
  void observe(const Step& s, const Observer& observer) const;
  void settle_all(const Step& s, std::vector<Datum> results);
  void settle(const Step& s, size_t i, Datum result);
  std::byte* address(SlotId s) const;
  Datum take(SlotId s, bool owned) const;

  std::shared_ptr<const Plan> plan_;
  Bytes arena_;
  const std::byte* last_ = nullptr;  // where the arena of the last run was
  std::vector<std::byte*> base_;     // by root slot
  std::vector<Datum> datums_;        // by root slot
  std::vector<Bytes> outputs_;
  std::vector<std::shared_ptr<void>> states_;
  std::vector<std::byte*> pointers_;
};

}  // namespace cameo::engine
