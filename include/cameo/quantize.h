// Models in 8-bit integers, from samples of their inputs.
//
//   auto net = cameo::load("net.onnx");
//   auto small = cameo::quantize(net, cameo::samples_from(net, "pictures/", "size=224,mean=0.5,std=0.5"));
//   std::cout << small.report.db << " dB\n";
//   small.model.save("net.int8.onnx");
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cameo/array.h"
#include "cameo/model.h"
#include "cameo/quantize_types.h"

namespace cameo {

// Fills the inputs of the next sample, and says whether there was one. Called until it says no; a sample is not kept.
using SampleSource = std::function<bool(std::vector<NamedValue>& inputs)>;

// From an .npz or .npy (keys are names, or x0, x1, ...; rows beyond the model's first axis are samples of their own), a
// test_data_set folder, a folder of such files, or "-": arrays as numpy.save writes them, one after another, on
// standard input. `image` not empty: a folder of pictures, or one; how they become the input: any of
// "mean=0.485/0.456/0.406,std=0.229/0.224/0.225,size=224x224,layout=nchw,divide=255,fit=stretch|crop|pad,order=rgb".
SampleSource samples_from(const Model& model, const std::string& path, const std::string& image = "");

std::string to_json(const QuantizeReport& report);
std::string to_html(const QuantizeReport& report);  // a whole page, without scripts

// How good a quantized model is, instead of signal to noise: larger is better.
using QuantizeMetric = std::function<double(const Model&)>;

struct Quantized {
  Model model;
  QuantizeReport report;
  std::vector<Diag> findings;  // quantize.below where neither min_db nor max_drop could be reached
};

// The best model that was found, also where it is not as good as asked. Throws use.target, use.value, use.node-name,
// quantize.samples without samples, quantize.nothing where nothing can be quantized, and what running throws.
Quantized quantize(const Model& model, const SampleSource& samples, const QuantizeSettings& settings = {},
                   const QuantizeMetric& metric = {});

// A metric from a command: the model's file is its last argument, and the last number that it prints is the metric.
QuantizeMetric metric_of_command(std::string command);

}  // namespace cameo
