// What `quantize` is asked for, and what it reports: plain data, the same in every layer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cameo/kernel.h"
#include "cameo/progress.h"

namespace cameo {

struct QuantizeSettings {
  std::string target = "onnxruntime";  // or tensorrt, openvino, qnn, generic
  // How the range of a value is chosen: minmax, percentile, entropy, mse, margin; auto: whichever gives the least
  // noise.
  std::string method = "auto";
  double percentile = 99.999;          // of numbers inside the range, for that method
  std::vector<std::string> keep = {};  // nodes that stay float: names with * and ?, or operators
  bool simplify = true;                // first
  bool correct_bias = true;            // what quantization adds to the means of products is taken from biases
  bool compensate = true;              // roundings of weights make up for each other, if that helps
  bool equalize = true;  // channels between two products get ranges of one size, which changes no result, if that helps
  double min_db = 20;    // signal to noise that every output is to have at least
  double max_float_macs = 0.1;  // the share of multiply-accumulates that may stay float for that
  uint64_t check_samples = 16;  // on so many of the first samples noise is measured
  double max_drop = 0.01;       // of a metric, below that of the float model
  std::string form = "qdq";     // or qoperator: QLinearConv and its like instead of Q and DQ around float operators
  int threads = 0;              // 0: all the machine has
  int opset = 0;                // 0: the model's own, or the oldest that the target needs
  std::vector<Kernel> kernels = {};  // of your own, for the model's operators (kernel.h)
  Progress progress = {};
};

struct QuantizedNode {
  std::string name, op;
  bool quantized = false;
  std::string why;  // it is not
  int bits = 32;
  double macs = 0;                // at the sizes of the first sample
  double weight_db = 0;           // signal to noise of its weights; 0: it has none
  double db = 0;                  // of its result in the quantized model; 0: not measured
  std::optional<double> gain_db;  // what the worst output gains if this node stays float, where that was measured
};

struct QuantizedValue {
  std::string name;
  std::string method;        // how its range was chosen
  double low = 0, high = 0;  // that occurred on the samples
  double from = 0, to = 0;   // that its integers cover
  double scale = 1;
  int64_t zero_point = 0;
  double db = 0;             // signal to noise in the quantized model
  std::vector<double> plot;  // of the noisiest: how often numbers occur, from low to high in steps of one size
};

struct QuantizedOutput {
  std::string name;
  double db = 0;
  // Of parts whose numbers are of different sizes, as boxes and scores of a detector.
  std::vector<std::pair<std::string, double>> parts;
};

struct QuantizeReport {
  std::string target, method;
  uint64_t samples = 0;
  double db = 0;         // of the worst output or part of one
  double int8_macs = 0;  // the share of multiply-accumulates in integers
  std::optional<double> float_metric, metric;
  bool reached = true;          // min_db, or max_drop
  bool equalized = false;       // channels were equalized, because that helped
  bool compensated = false;     // weights were rounded for the results of their products, because that helped
  bool corrected_bias = false;  // biases were corrected by means that were measured
  uint64_t tried = 0;           // quantized models that were measured
  std::vector<QuantizedOutput> outputs;
  std::vector<QuantizedNode> nodes;    // in order: those that are quantized, and those that multiply
  std::vector<QuantizedValue> values;  // noisiest first
};

}  // namespace cameo
