// A plan: a region of a graph at known input sizes, as a list of steps over slots of memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/desc.h"
#include "engine/kernel.h"
#include "ir/graph.h"
#include "ir/tensor.h"

namespace cameo::engine {

using SlotId = uint32_t;
inline constexpr SlotId no_slot = UINT32_MAX;

struct Slot {
  enum class Home : uint8_t {
    arena,     // planned memory of a run
    input,     // the caller's bytes
    output,    // memory that goes to the caller
    constant,  // bytes prepared once
    datum,     // whatever a reference kernel returned
  };
  Home home = Home::arena;
  Desc desc;              // of a datum: empty where sizes or even the kind are known only when it is there
  SlotId root = no_slot;  // the slot whose bytes these are: itself, or the one it is a view of
  uint64_t offset = 0;    // in the root's bytes; of an arena root, in the arena
  uint32_t index = 0;     // which input or output
  Tensor constant;
  std::string name;
};

struct Step {
  std::unique_ptr<const Kernel> kernel;  // null: the node's reference kernel
  std::vector<SlotId> in, out;           // no_slot for absent optional inputs
  NodeId node;
  std::string label;
  SlotId scratch = no_slot;
  bool alone = false;   // too little work for a team of threads
  bool settled = true;  // types and sizes of all operands were known when the node was checked; else a run checks again
  std::vector<SlotId> release;     // datums that are not read after it
  std::vector<ValueId> captured;   // of a reference step with bodies: the values behind the inputs past the node's own
  uint32_t observed = UINT32_MAX;  // it computes nothing, and shows its input to the observer under this number
};

// What a plan is made for: values to return, and values to show to the observer, each with its number.
struct Wanted {
  std::vector<ValueId> returned;
  std::vector<std::pair<ValueId, uint32_t>> observed;
};

// What is left of the graph once sizes that depend on data are known: planned when the run gets there.
struct Rest {
  std::vector<NodeId> nodes;                     // in order
  std::vector<std::pair<ValueId, SlotId>> live;  // what they read of this plan
  std::vector<std::pair<ValueId, uint32_t>> observed;
};

// Which of a session's own values those of a plan's graph are: what is made of their constants is shared by all plans.
class BaseValues {
 public:
  BaseValues() = default;
  explicit BaseValues(uint32_t count) : count_(count) {}  // the first ones, under their own numbers
  void add(ValueId v, ValueId base) {
    if (v.index >= of_.size()) of_.resize(v.index + 1);
    of_[v.index] = base;
  }
  ValueId of(ValueId v) const {  // none: of this plan only
    if (v.index < of_.size()) return of_[v.index];
    return v.index < count_ ? v : ValueId();
  }

 private:
  uint32_t count_ = 0;
  std::vector<ValueId> of_;
};

struct Plan {
  std::shared_ptr<const Graph> graph;  // inferred at these sizes, rewritten
  std::vector<Slot> slots;
  std::vector<Step> steps;
  std::vector<SlotId> inputs;   // no_slot where unused
  std::vector<SlotId> outputs;  // no_slot: comes from the rest
  std::vector<ValueId> output_values;
  std::unique_ptr<Rest> rest;
  uint64_t arena_bytes = 0;
  BaseValues base;

  ValueId captures(const Step& s, size_t input) const { return s.captured[input - (s.in.size() - s.captured.size())]; }
};

// Gives every arena slot its offset: lifetimes from the steps, buffers taken over in place where a kernel allows it.
void plan_memory(Plan& plan);

}  // namespace cameo::engine
