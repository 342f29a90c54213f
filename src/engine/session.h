// A model ready to run: loaded once, run many times, by several threads at once.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "kernels/datum.h"
#include "ops/custom.h"

namespace cameo::engine {

class Runner;

struct SessionOptions {
  int threads = 0;            // 0: as many as the machine has
  bool fast = true;           // false: only reference kernels
  bool onednn = true;         // false: our own kernels, as in a build without it
  uint64_t seed = 0;          // for random operators that carry none
  CustomOps kernels;          // of the program around us
  std::vector<ValueId> keep;  // inner values of the main graph that are returned as well, after the outputs
  // Values of the main graph that a run shows to its observer, each when it is there. They are not fused away, and
  // need no memory beyond their use.
  std::vector<ValueId> observe;
};

// A value of a run, as it lies in memory. The bytes are valid only during the call.
struct Observation {
  size_t index = 0;  // in SessionOptions::observe
  DType dtype = DType::undefined;
  std::span<const int64_t> dims;  // from the outermost in memory to the innermost
  std::span<const size_t> axes;   // axes[i]: which axis of the value dims[i] is
  std::span<const std::byte> bytes;
};
using Observer = std::function<void(const Observation&)>;

struct StepTime {
  std::string node, op, kernel;  // the node's name, what the step does, which implementation
  double start_us = 0, length_us = 0;
};

struct MemoryUse {
  uint64_t arena = 0;    // planned memory of one run, at the sizes it was largest
  uint64_t weights = 0;  // packed or converted; weights used as they lie in the file count nothing
};

// Memory of the caller's for output `i`, which takes `bytes`; it is written during the run. Null: the session's own.
// Precondition: aligned to 8 bytes, and no input or other output lies in it.
using OutputMemory = std::function<std::byte*(size_t i, uint64_t bytes)>;

class Session {
 public:
  explicit Session(Model model, const SessionOptions& options = {});
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  const Graph& graph() const;  // as loaded
  // The main graph's inputs in order; one that is absent (Kind::none) takes its initializer's value. Throws run.* when
  // they do not fit, all findings at once, and eval.* with the node's place. Threads may call it at the same time.
  // What `lent` lends is used where an output is computed in memory of its own; others point elsewhere.
  std::vector<Datum> run(std::span<const Datum> inputs, std::vector<StepTime>* times = nullptr,
                         const OutputMemory& lent = {}) const;
  // The same, with an observer. Values of SessionOptions::observe that are no tensors of numbers are not shown.
  std::vector<Datum> run(std::span<const Datum> inputs, const Observer& observer) const;
  MemoryUse memory() const;
  int threads() const;

 private:
  std::unique_ptr<Runner> runner_;
};

// Whether this build computes with oneDNN; its version, or "".
std::string onednn_version();

}  // namespace cameo::engine
