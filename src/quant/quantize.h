// Post-training quantization: calibrate, choose, insert, measure, and leave in float what must stay so.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cameo/quantize_types.h"
#include "engine/session.h"
#include "quant/calibrate/range.h"
#include "quant/evaluate/evaluation.h"
#include "support/error.h"

namespace cameo::quant {

// Fills the model's inputs in order, and says whether there was a further sample.
using Samples = std::function<bool(std::vector<Datum>& inputs)>;

struct Options {
  QuantizeSettings asked;      // its opset, threads and kernels excepted
  engine::SessionOptions run;  // how models are run: threads, and kernels of the caller's own
  Method method = Method::automatic;
  int64_t opset = 0;  // to write in; 0: the model's own, or what the target needs at least
  // Of a quantized model, larger is better; empty: signal to noise of the outputs decides.
  std::function<double(const Model&)> metric;
};

struct Result {
  QuantizeReport report;
  int64_t opset = 0;
  std::vector<Diag> findings;
};

int64_t lowest_opset(const std::string& target);  // throws use.target

// Throws use.* for an unknown target or name, and what running the model throws.
Result quantize(Model& m, const Samples& samples, const Options& options);

}  // namespace cameo::quant
