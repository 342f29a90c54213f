// Runs a plan with memory of its own.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "engine/plan.h"
#include "kernels/datum.h"

namespace cameo::engine {

// What a run needs besides its plan and its inputs.
struct Hooks {
  // Runs a body; `outer` reads a value that the body takes from around it.
  std::function<std::vector<Datum>(const Plan& plan, RegionId region, std::vector<Datum> args, const std::function<Datum(ValueId)>& outer)> run_region;
  std::function<uint64_t()> seed;
  std::function<void(const Plan& plan, const Step& step, double start_us, double length_us)> timed;  // may be empty
};

// The memory of one run at a time; reused by later runs of the same plan.
class Frame {
 public:
  explicit Frame(std::shared_ptr<const Plan> plan);
  // `inputs` as the plan's. Absent outputs (of the rest) are Kind::none.
  std::vector<Datum> run(std::span<const Datum> inputs, const Hooks& hooks);
  Datum read(SlotId s) const;  // after run(): what the rest needs
  void drop();                 // lets go of what the last run left
  const Plan& plan() const { return *plan_; }
  uint64_t bytes() const { return plan_->arena_bytes; }

 private:
  void start(std::span<const Datum> inputs);
  void execute(const Step& s, size_t number);
  void interpret(const Step& s, const Hooks& hooks);
  void settle(const Step& s, size_t i, Datum result);
  std::byte* address(SlotId s) const;
  Datum take(SlotId s, bool owned) const;

  std::shared_ptr<const Plan> plan_;
  Bytes arena_;
  std::vector<std::byte*> base_;  // by root slot
  std::vector<Datum> datums_;     // by root slot
  std::vector<Bytes> outputs_;
  std::vector<std::shared_ptr<void>> states_;
  std::vector<std::byte*> pointers_;
};

}  // namespace cameo::engine
