// Weights as integers with a scale, or one per output channel.
#pragma once

#include <span>
#include <vector>

#include "quant/calibrate/calibration.h"
#include "quant/schemes/product.h"
#include "quant/schemes/target.h"

namespace cameo::quant {

struct QuantizedWeight {
  Bytes levels;                 // one signed byte each
  std::vector<float> scales;    // one, or one per channel
  double error = 0, power = 0;  // sums of squares, weighted by what the inputs are
  std::vector<double> shift;    // per output channel: what rounding adds to the mean of the sums
};

// The scale of a channel is the largest number's, or somewhat smaller where the error gets less by it: errors count as
// much as the inputs that they are multiplied with. `inputs` null: all alike.
QuantizedWeight quantize_weight(const Product& p, std::span<const float> weights, const Grid& grid, bool per_channel,
                                const ChannelMoments* inputs);

// With levels that were chosen otherwise.
QuantizedWeight with_levels(const Product& p, std::span<const float> weights, std::vector<float> scales, Bytes levels,
                            const ChannelMoments* inputs);

// The same with scales that are at least `least`.
QuantizedWeight with_larger_scales(const Product& p, std::span<const float> weights, const QuantizedWeight& rounded,
                                   std::span<const float> least, const Grid& grid, const ChannelMoments* inputs);

}  // namespace cameo::quant
