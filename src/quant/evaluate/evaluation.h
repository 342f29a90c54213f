// How much a quantized model differs from the float one: signal to noise, per output and per inner value.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/session.h"
#include "quant/calibrate/calibration.h"

namespace cameo::quant {

// Sums of squares. No noise at all counts as 200 dB.
struct Power {
  double signal = 0, noise = 0;
  double db() const;
  double ratio() const { return signal > 0 ? noise / signal : 0; }
};

struct OutputNoise {
  std::string name;
  Power all;
  // Parts of an output whose numbers are of different sizes, as boxes and scores of a detector: each judged by itself.
  struct Part {
    std::string what;  // "channels 0..3 of axis 1, up to 320"
    Power power;
  };
  std::vector<Part> parts;  // empty: it has no such parts
  double worst_db() const;
};

struct Evaluation {
  void add(const Evaluation& other);  // of the same outputs, on other samples
  std::vector<OutputNoise> outputs;
  std::map<ValueId, Power> values;  // of the float graph
  std::set<ValueId> features;  // of them, those that stand for the outputs, which are too few numbers to compare by
  double worst_db() const;     // over outputs and their parts
  // What variants are compared by: the worst output, and the features where there are some.
  double merit_db() const;
  double feature_db() const;           // on average
  std::vector<double> noises() const;  // relative to the signal, of every output and part, in order
};

class Evaluator {
 public:
  // Runs the float model on every sample once. Of each watched value a selection of numbers is kept.
  Evaluator(const Model& model, std::vector<std::vector<Datum>> samples, const std::vector<ValueId>& watched,
            engine::SessionOptions run);
  // `forms`: the value of `quantized` that stands for a watched one; others are not compared. Of more than `most`
  // samples an even selection is run.
  Evaluation measure(const Model& quantized, const std::map<ValueId, ValueId>& forms, Half half = Half::both,
                     size_t most = SIZE_MAX) const;
  // Outputs and features only: to choose between variants, from few samples or from all.
  Evaluation compare(const Model& quantized, const std::map<ValueId, ValueId>& forms, Half half, bool few) const;
  size_t samples() const { return samples_.size(); }
  bool has_features() const { return !features_.empty(); }

 private:
  struct Recorded {
    std::vector<Datum> outputs;
    std::map<ValueId, std::vector<float>> values;
  };
  Recorded record(const engine::Session& session, const std::vector<Datum>& inputs,
                  const std::vector<ValueId>& names) const;
  struct Parting {
    size_t axis = 0;
    std::vector<size_t> part;  // of each index of the axis
    std::vector<std::string> names;
  };
  void find_parts();
  void find_features(const Graph& g, const std::vector<ValueId>& watched);
  static void split(const std::vector<double>& most, Parting& p);
  static void add_noise(const Datum& wanted, const Datum& got, const Parting& p, OutputNoise& noise);

  std::vector<std::vector<Datum>> samples_;
  std::vector<Recorded> expected_;
  std::set<ValueId> features_;
  std::map<ValueId, Range> useful_;  // beyond it numbers make no difference
  std::vector<std::string> output_names_;
  std::vector<Parting> partings_;  // by output
  engine::SessionOptions run_;
};

}  // namespace cameo::quant
