// How large the values of a model get: measured by running it, and bounded by what its operators can make at most.
#pragma once

#include <map>
#include <span>

#include "engine/session.h"
#include "quant/half/rules.h"

namespace cameo::quant {

// The largest magnitude of each value on the samples so far; what stands for infinity (masks) does not count.
class MeasuredRanges {
 public:
  MeasuredRanges(const Model& m, std::span<const Unit> units, const engine::SessionOptions& run);
  std::vector<Datum> sample(std::span<const Datum> inputs);  // the model's outputs
  const std::map<ValueId, double>& largest() const { return largest_; }

 private:
  void count(ValueId v, std::span<const float> numbers);

  std::vector<ValueId> watched_, inputs_;
  std::unique_ptr<engine::Session> session_;
  std::map<ValueId, double> largest_;
};

// What no input can exceed; values without a bound are absent. Inputs have the bounds that are given.
std::map<ValueId, double> magnitude_bounds(const Graph& g, const std::map<ValueId, double>& inputs = {});

// Units that give or read numbers that `half` cannot hold, or that it would round to a few digits. `safety`: how many
// times larger numbers may become than those that were measured. `sums`: sums of squares have to fit, too.
void keep_by_range(const Graph& g, std::span<Unit> units, const std::map<ValueId, double>& measured,
                   const std::map<ValueId, double>& bounds, DType half, double safety, bool sums);
// Where nothing could be measured: operators that are known to overflow, unless a bound says that they do not.
void keep_by_operator(const Graph& g, std::span<Unit> units, const std::map<ValueId, double>& bounds, DType half);

}  // namespace cameo::quant
