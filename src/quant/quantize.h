// Post-training quantization: calibrate, choose, insert, measure, and leave in float what must stay so.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "quant/evaluate/evaluation.h"
#include "quant/schemes/target.h"
#include "support/error.h"

namespace cameo::quant {

// Fills the model's inputs in order, and says whether there was a further sample.
using Samples = std::function<bool(std::vector<Datum>& inputs)>;

struct Options {
  std::string target = "onnxruntime";
  Method method = Method::automatic;
  double percentile = 99.999;
  std::vector<std::string> keep;  // nodes that stay float: names with * and ?, or operators
  bool simplify = true;
  bool correct_bias = true;
  bool equalize = true;         // channels between two products, before ranges are measured
  double min_db = 20;           // what every output is to have at least
  double max_float_macs = 0.1;  // the share of multiply-accumulates that may stay float for it
  size_t check_samples = 16;    // the first samples, on which quantized models are compared with the float one
  int threads = 0;
  int64_t opset = 0;  // to write in; 0: the model's own, or what the target needs at least
  // Of a quantized model, larger is better; empty: signal to noise of the outputs decides.
  std::function<double(const Model&)> metric;
  double max_drop = 0.01;  // of the metric, below the float model's
  std::function<bool(const char* what, uint64_t done, uint64_t all)> progress;  // false stops
};

struct NodeReport {
  std::string name, op;
  bool quantized = false;
  std::string why;  // of a node that could be quantized and is not
  int bits = 32;
  double macs = 0;
  double weight_db = 0;  // of the weights alone; 0: it has none
  double db = 0;         // of its result in the quantized model; 0: not measured
};

struct ValueReport {
  std::string name;
  double low = 0, high = 0;  // that occurred
  double from = 0, to = 0;   // that the quantized form covers
  double scale = 1;
  int64_t zero_point = 0;
  double db = 0;
  std::vector<double> plot;  // how often numbers occur, from low to high in steps of one size; of the noisiest values
};

struct OutputReport {
  std::string name;
  double db = 0;
  std::vector<std::pair<std::string, double>> parts;
};

struct Report {
  std::string target, method;
  size_t samples = 0;
  double db = 0;         // of the worst output or part of one
  double int8_macs = 0;  // share
  std::optional<double> float_metric, metric;
  bool reached = true;  // min_db, or max_drop
  size_t tried = 0;     // models that were measured
  std::vector<OutputReport> outputs;
  std::vector<NodeReport> nodes;    // in order; those that multiply or were chosen
  std::vector<ValueReport> values;  // noisiest first
};

struct Result {
  Report report;
  int64_t opset = 0;
  std::vector<Diag> findings;
};

int64_t lowest_opset(const std::string& target);  // throws use.target

// Throws use.* for an unknown target or name, and what running the model throws.
Result quantize(Model& m, const Samples& samples, const Options& options);

}  // namespace cameo::quant
