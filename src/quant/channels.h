// Channels of a value that is quantized with one scale get ranges of one size, and the model computes the same: what
// makes the value is divided by a factor per channel, what reads it is multiplied with it.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <vector>

#include "quant/calibrate/calibration.h"
#include "quant/insert/insert.h"
#include "quant/schemes/selection.h"

namespace cameo::quant {

// A value with factors. Where a product makes or reads it, they are in the product's weights; at a float neighbour a
// multiplication stands, which becomes part of DequantizeLinear, with a scale per channel, of a float convolution or of
// a gate where it can.
struct ScaledChannels {
  ValueId value;                // in the graph before
  std::vector<double> factors;  // 1 at most
  int64_t axis = 1;
  NodeId maker;                 // a product; none: a float node, or an input of the graph
  std::vector<NodeId> readers;  // products
  NodeId multiplication;        // none: products only
  ValueId result;               // of it
  // Of the scaled value: numbers beyond it make no difference; what is covered whatever the samples show.
  Range useful, open;
};

using MomentsOf = std::function<const ChannelMoments*(ValueId)>;

// `moments`: what the channels of a value were on some samples. `beside_floats`: the target takes a scale per channel
// where a float node makes or reads the value. Multiplications have to stay float.
std::vector<ScaledChannels> scale_channels(Graph& g, const Selection& s, const MomentsOf& moments, bool beside_floats);

// Before insertion: products that stay float have their own weights back, and no multiplication beside them.
void restore_float_products(Graph& g, const std::vector<ScaledChannels>& all, const std::set<NodeId>& quantized);

// After it: multiplications become part of what stands beside them.
void absorb_factors(Graph& g, const std::vector<ScaledChannels>& all, Inserted& inserted);

}  // namespace cameo::quant
