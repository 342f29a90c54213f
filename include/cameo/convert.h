// Conversion of a model to another opset, to half precision, or from linger's operators to standard ones.
//
//   cameo::convert(cameo::load("net.onnx"), {.opset = 13}).model.save("net13.onnx");
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cameo/model.h"
#include "cameo/progress.h"
#include "cameo/quantize.h"

namespace cameo {

// mixed: products (Conv, MatMul, Gemm, ...) in f16, what PyTorch's autocast computes in f32 in f32.
enum class FloatType : uint8_t { keep, f16, bf16, mixed };

struct ConvertSettings {
  int opset = 0;                  // of ai.onnx, up or down; 0: the model's own
  bool lossy = false;             // allow expansions that are wrong on inf, NaN or overflow, or approximate
  bool inline_functions = false;  // calls of the model's own functions become their nodes
  bool to_qdq = false;  // linger's operators become QuantizeLinear, DequantizeLinear and what stands between them
  bool exact_rounding = false;  // with to_qdq: halves round up, as linger's do, by Floor; engines do not fuse that
  std::string quantized = {};   // the form of 8-bit nodes: qdq, qoperator; empty: as it is
  FloatType float_type = FloatType::keep;  // of f32 values and weights, with casts around what stays f32
  // The rest goes with float_type.
  bool keep_io = false;                // inputs and outputs stay f32
  std::vector<std::string> keep = {};  // stay f32: operators, or nodes by name with * and ?
  std::string calibrate = {};          // inputs to measure ranges and errors on, as samples_from takes them
  std::string image = {};              // how pictures become the input
  SampleSource samples = {};           // instead of `calibrate`; neither: made-up inputs
  // Of every output, as a part of its largest number, or of 0.1 where all are smaller; default: 0.01, bf16 0.05.
  std::optional<double> max_error = {};
  bool check = true;                 // run both models, and keep more in f32 until the error is no larger than that
  std::string target = {};           // tensorrt: strongly typed, and sums of squares have to fit in f16, too
  int threads = 0;                   // 0: all the machine has
  std::vector<Kernel> kernels = {};  // of your own, to run both models (kernel.h)
  Progress progress = {};
};

// What a conversion to half precision did.
struct HalfReport {
  uint64_t values = 0, weights = 0, casts = 0;
  uint64_t samples = 0;         // that were measured
  bool made_up = false;         // they were random numbers
  uint64_t tried = 0;           // models that were run
  std::optional<double> error;  // of the worst output; none: it could not be measured, or was not to be
  std::string unchecked;        // why not
  struct Kept {
    std::string name, op, why;  // op: empty for an input or an output
  };
  std::vector<Kept> kept;  // what stays f32, in order
};
std::string to_json(const HalfReport& report);

struct Converted {
  Model model;
  HalfReport half;        // with float_type
  uint64_t replaced = 0;  // linger's nodes, with to_qdq
  std::vector<Diag> findings;
};

// Throws use.opset for an unknown opset, convert.* with one finding per node that the opset cannot express. With
// float_type: convert.error among the findings where max_error could not be reached, convert.unchecked where the model
// could not be run.
Converted convert(Model model, const ConvertSettings& settings);

}  // namespace cameo
