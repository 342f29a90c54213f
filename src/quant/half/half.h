// Half precision that is never worse than asked: ranges, what stays f32 and why, measured by running both models.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "passes/half/half.h"
#include "quant/quantize.h"

namespace cameo::quant {

struct HalfSettings {
  passes::HalfOptions form;
  std::vector<std::string> keep;  // nodes that stay f32: operators, or names with * and ?
  double max_error = 1e-2;        // of every output, as a part of its largest number
  bool check = true;              // run both models, and keep more in f32 until the error is small enough
  bool f16_sums = false;          // the target adds up in half precision, too: sums count, not only results
  size_t check_samples = 4;
  engine::SessionOptions run;  // how models are run: threads, and kernels of the caller's own
};

struct KeptF32 {
  std::string name, op, why;
};

struct HalfReport {
  size_t values = 0, weights = 0, casts = 0;
  size_t samples = 0;           // that ranges were measured on
  bool made_up = false;         // these were random numbers
  size_t tried = 0;             // models that were run
  std::optional<double> error;  // of the worst output; none: not measured
  std::string unchecked;        // why it was not
  std::vector<KeptF32> kept;    // nodes, inputs and outputs that stay f32
  std::vector<Diag> findings;
};

// `samples` empty: made-up inputs. Calls of local functions are inlined. Throws use.value for an unknown name to keep.
HalfReport to_half(Model& m, const Samples& samples, const HalfSettings& settings);

// The largest difference of two runs' outputs, each as a part of the largest number that is wanted, or of 0.1 where all
// are smaller: scores that are nearly 0 everywhere tell little. Of integers the share that differs. Infinite where
// shapes differ, or a number is not finite that should be.
double output_error(std::span<const Datum> got, std::span<const Datum> wanted);

}  // namespace cameo::quant
