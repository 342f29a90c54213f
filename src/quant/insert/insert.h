// QuantizeLinear and DequantizeLinear put into a graph, weights and biases as integers.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <tuple>

#include "ops/on.h"
#include "quant/calibrate/calibration.h"
#include "quant/insert/weights.h"
#include "quant/schemes/selection.h"

namespace cameo::quant {

// By weight, axis of its channels, and data that it is multiplied with.
using WeightCache = std::map<std::tuple<ValueId, int64_t, ValueId>, QuantizedWeight>;

// By product: what its outputs have on average too much.
using BiasShifts = std::map<NodeId, std::vector<double>>;

// The node; `zero` may be absent.
ValueId dequantize(On& on, ValueId q, ValueId scale, ValueId zero, int64_t axis);

struct InsertOptions {
  const Target* target = nullptr;
  std::map<ValueId, Scale> scales;                             // by group, of all values of the selection
  std::function<const ChannelMoments*(ValueId data)> moments;  // null: not known
  WeightCache* cache = nullptr;
  const WeightCache* compensated = nullptr;  // of these weights levels are there already
  bool correct_bias = true;  // the mean that rounding adds to a product is taken from its bias, in closed form
  const BiasShifts* shifts = nullptr;  // what is taken from biases besides
};

struct InsertedProduct {
  double weight_db = 0;  // signal to noise of the weights
  bool integer_bias = false;
};

struct Inserted {
  std::map<ValueId, ValueId> dequantized;  // a value of the graph before, and its quantized form
  std::map<NodeId, InsertedProduct> products;
  size_t quantizers = 0;
};

// `graph` is the one of the selection.
Inserted insert(Graph& graph, const Selection& selection, const InsertOptions& options);

}  // namespace cameo::quant
