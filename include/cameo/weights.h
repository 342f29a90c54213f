// Weights in few bits: 8, 4 or 2, with a scale for every block of neighbours.
//
//   auto small = cameo::quantize_weights(cameo::load("model.onnx"), {.bits = 4, .block = 32});
//   small.model.save("model.int4.onnx");
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cameo/model.h"
#include "cameo/progress.h"
#include "cameo/quantize.h"

namespace cameo {

struct WeightSettings {
  int bits = 4;                        // 8, 4 or 2
  int64_t block = 32;                  // 16, 32, 64, 128 or 256 numbers with one scale
  bool symmetric = true;               // false: every block has a zero point
  std::string method = "rtn";          // or search: the best scale; gptq, awq: the best of all for the samples
  std::string form = "nbits";          // com.microsoft's MatMulNBits and GatherBlockQuantized; qdq: DequantizeLinear
  bool embeddings = true;              // tables that Gather reads, too
  std::vector<std::string> keep = {};  // weights, and nodes that read them, by name with * and ?
  int opset = 0;                       // 0: the model's own, or what the form needs
  int threads = 0;                     // 0: all the machine has
  std::vector<Kernel> kernels = {};    // of your own, to run the model on samples (kernel.h)
  Progress progress = {};
};

struct WeightReport {
  struct Weight {
    std::string name, method, why;  // why: it stays as it is
    std::vector<int64_t> shape;
    bool quantized = false;
    std::optional<double> db, rtn_db;  // signal to noise of the results on the samples: as stored, and with rtn
  };
  std::vector<Weight> weights;
  uint64_t bytes_before = 0, bytes_after = 0;  // of these weights
};
std::string to_json(const WeightReport& report);

struct WeightQuantized {
  Model model;
  WeightReport report;
  std::vector<Diag> findings;
};

// One weight after the other: what is made goes to a file without a name in the temporary folder, so that memory does
// not grow with the model.
// Throws use.value, use.node-name, quantize.samples where gptq or awq have no samples, quantize.nothing.
WeightQuantized quantize_weights(Model model, const WeightSettings& settings = {}, const SampleSource& samples = {});

// Weights that are in few bits already, from one form ("nbits", "qdq") into the other: the same levels and scales.
// Throws use.value, and quantize.nothing where there are none.
WeightQuantized convert_weights(Model model, const std::string& form);

}  // namespace cameo
