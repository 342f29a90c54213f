// A quantized form of a model: which nodes stay float, how ranges are chosen; made from one calibration.
#pragma once

#include <optional>
#include <set>

#include "quant/calibrate/calibration.h"
#include "quant/channels.h"
#include "quant/evaluate/evaluation.h"
#include "quant/insert/insert.h"

namespace cameo::quant {

struct Choice {
  std::set<NodeId> keep;  // float
  Method method = Method::minmax;
  std::map<ValueId, Method> methods = {};  // of values that have another one
  bool correct_bias = true;                // for the rounding of weights
  BiasShifts shifts = {};                  // by means that were measured
  bool compensate = false;                 // roundings of weights for each other

  Method method_of(ValueId v) const {
    const auto it = methods.find(v);
    return it == methods.end() ? method : it->second;
  }
};

// How much is run to judge a variant. Which ranges are good shows on samples that have what the model looks for: few of
// many may not.
enum class Effort : uint8_t { few_samples, all_samples, everything };  // the last one with every inner value's noise

struct Variant {
  Choice choice;
  Model model;
  std::set<NodeId> nodes;             // of the float graph, quantized
  std::map<NodeId, ValueId> results;  // the value of the float graph that a node's quantized result stands for
  std::map<ValueId, Scale> scales;    // of the values that are quantized
  Inserted inserted;
  Evaluation evaluation;
  double score = 0;  // larger is better
};

class VariantMaker {
 public:
  // `scaled`: values of the model with factors of their channels.
  VariantMaker(const Model& model, const Target& target, const Calibration& calibration, double percentile,
               const std::vector<ScaledChannels>& scaled)
      : model_(model), target_(target), calibration_(calibration), percentile_(percentile), scaled_(scaled) {}

  // Prepares weights for variants that compensate.
  void compensate(const std::set<NodeId>& nodes, const std::vector<std::vector<Datum>>& samples,
                  const engine::SessionOptions& run);

  // Not yet evaluated. Nodes whose values were never seen, and joins of ranges that differ too much, stay float too.
  // `half`: the samples that ranges are chosen by.
  Variant make(const Choice& choice, Half half = Half::both);
  // Accelerators without float operators have none left float unless the goal needs it.
  bool mixes_floats() const { return target_.placement != Placement::everything; }
  // Nodes that stay float whatever is chosen, and why.
  const std::map<NodeId, std::string>& refused() const { return refused_; }
  Range range(ValueId v, Method method, Half half = Half::both);
  const std::vector<ScaledChannels>& scaled() const { return scaled_; }

 private:
  const ScaledChannels* factors_of(ValueId v) const;
  std::set<NodeId> conflicts(const Selection& s);
  std::map<ValueId, Scale> group_scales(const Selection& s, const Choice& choice, Half half);

  const Model& model_;
  const Target& target_;
  const Calibration& calibration_;
  double percentile_;
  const std::vector<ScaledChannels>& scaled_;
  const ChannelMoments* moments(ValueId v) const;

  WeightCache cache_, compensated_;
  std::map<std::tuple<ValueId, Method, Half>, Range> ranges_;
  std::map<NodeId, std::string> refused_;
};

}  // namespace cameo::quant
