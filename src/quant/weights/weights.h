// Weights in few bits: which, how, in which form.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "quant/quantize.h"
#include "quant/weights/blocks.h"

namespace cameo::quant {

enum class WeightForm : uint8_t { nbits, qdq };
enum class WeightMethod : uint8_t { rtn, search, gptq, awq };
inline constexpr std::string_view weight_method_names[] = {"rtn", "search", "gptq", "awq"};

struct WeightOptions {
  BlockFormat format;
  WeightMethod method = WeightMethod::rtn;
  WeightForm form = WeightForm::nbits;
  bool embeddings = true;         // what Gather reads, too
  std::vector<std::string> keep;  // weights and nodes that stay as they are: names with * and ?
  engine::SessionOptions run;     // how the model is run: threads, and kernels of the caller's own
};

struct WeightRow {
  std::string name, method, why;  // why: it stays as it is
  std::vector<int64_t> shape;
  bool quantized = false;
  std::optional<double> db, rtn_db;  // signal to noise of the products' results on the samples
};

struct WeightResult {
  std::vector<WeightRow> weights;
  uint64_t bytes_before = 0, bytes_after = 0;  // of these weights
  int64_t opset = 0;                           // at least
};

// `samples`: needed by gptq and awq. Then every weight has the method that gives the least error on them, and all are
// rounded to nearest where that is better for the outputs. Throws use.value, quantize.samples and quantize.nothing.
WeightResult quantize_weights(Model& m, const Samples& samples, const WeightOptions& options);
// The same with each weight judged by itself alone.
WeightResult quantize_each_weight(Model& m, const Samples& samples, const WeightOptions& options);

}  // namespace cameo::quant
