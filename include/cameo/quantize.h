// Models in 8-bit integers, from samples of their inputs.
//
//   auto net = cameo::load("net.onnx");
//   auto small = cameo::quantize(net, cameo::samples_from(net, "pictures/", "size=224,mean=0.5,std=0.5"));
//   std::cout << small.report.db << " dB\n";
//   small.model.save("net.int8.onnx");
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cameo/array.h"
#include "cameo/model.h"
#include "cameo/progress.h"

namespace cameo {

// Fills the inputs of the next sample, and says whether there was one. Called until it says no; a sample is not kept.
using SampleSource = std::function<bool(std::vector<NamedValue>& inputs)>;

// From an .npz or .npy (keys are names, or x0, x1, ...; rows beyond the model's first axis are samples of their own), a
// test_data_set folder, a folder of such files, or "-": arrays as numpy.save writes them, one after another, on
// standard input. `image` not empty: a folder of pictures, or one; how they become the input: any of
// "mean=0.485/0.456/0.406,std=0.229/0.224/0.225,size=224x224,layout=nchw,divide=255,fit=stretch|crop|pad,order=rgb".
SampleSource samples_from(const Model& model, const std::string& path, const std::string& image = "");

struct QuantizeSettings {
  std::string target = "onnxruntime";  // or tensorrt, openvino, qnn, generic
  // How the range of a value is chosen: minmax, percentile, entropy, mse; auto: whichever gives the least noise.
  std::string method = "auto";
  double percentile = 99.999;          // of numbers inside the range, for that method
  std::vector<std::string> keep = {};  // nodes that stay float: names with * and ?, or operators
  bool simplify = true;                // first
  bool correct_bias = true;            // what rounding of weights adds to means is taken from biases
  bool equalize = true;                // channels between two products get ranges of one size, which changes no result
  double min_db = 20;                  // signal to noise that every output is to have at least
  double max_float_macs = 0.1;         // the share of multiply-accumulates that may stay float for that
  uint64_t check_samples = 16;         // on so many of the first samples noise is measured
  std::function<double(const Model&)> metric = {};  // instead of min_db: larger is better
  double max_drop = 0.01;                           // of the metric, below that of the float model
  int threads = 0;                                  // 0: all the machine has
  int opset = 0;                                    // 0: the model's own, or the oldest that the target needs
  Progress progress = {};
};

struct QuantizedNode {
  std::string name, op;
  bool quantized = false;
  std::string why;  // it is not
  int bits = 32;
  double macs = 0;       // at the sizes of the first sample
  double weight_db = 0;  // signal to noise of its weights; 0: it has none
  double db = 0;         // of its result in the quantized model; 0: not measured
};

struct QuantizedValue {
  std::string name;
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
  bool reached = true;  // min_db, or max_drop
  uint64_t tried = 0;   // quantized models that were measured
  std::vector<QuantizedOutput> outputs;
  std::vector<QuantizedNode> nodes;    // in order: those that are quantized, and those that multiply
  std::vector<QuantizedValue> values;  // noisiest first
};
std::string to_json(const QuantizeReport& report);
std::string to_html(const QuantizeReport& report);  // a whole page, without scripts

struct Quantized {
  Model model;
  QuantizeReport report;
  std::vector<Diag> findings;  // quantize.below where neither min_db nor max_drop could be reached
};

// The best model that was found, also where it is not as good as asked. Throws use.target, use.value, use.node-name,
// quantize.samples without samples, quantize.nothing where nothing can be quantized, and what running throws.
Quantized quantize(const Model& model, const SampleSource& samples, const QuantizeSettings& settings = {});

// A metric from a command: the model's file is its last argument, and the last number that it prints is the metric.
std::function<double(const Model&)> metric_of_command(std::string command);

}  // namespace cameo
