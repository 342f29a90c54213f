// What a deployment target wants in a quantized file: one row per target, one row per operator.
#pragma once

#include <span>
#include <string_view>

#include "ir/dtype.h"
#include "ir/graph.h"
#include "quant/calibrate/range.h"

namespace cameo::quant {

enum class Placement : uint8_t {
  units,       // an operator stands between DequantizeLinear and QuantizeLinear, both sides
  inputs,      // only what products read is quantized; the target moves the rest by itself
  everything,  // every f32 value of the graph
};

struct Target {
  std::string_view name;
  uint32_t bit = 0;  // in OperatorRow::targets
  Placement placement = Placement::units;
  Grid activation, weight;
  bool per_channel = true;
  bool integer_bias = true;      // as i32 with the scale of the sums
  bool drops_implied = false;    // an activation that the quantized range implies is left out
  bool rounds_data = false;      // it has operators that round data while they run: LSTM, products in bodies
  bool quantizes_float = false;  // weights of float products between DequantizeLinear and QuantizeLinear
  bool scales_channels = false;  // DequantizeLinear of activations may have a scale per channel, for floats
  // Multiplications per number that would only be quantized and dequantized for them: convolutions with fewer stay
  // float between float neighbours.
  double thin = 0;
  int64_t opset = 13;  // at least
};

enum class Role : uint8_t {
  product,    // multiplies with weights: what quantization is for
  computes,   // has a form on integers with scales of its own for every operand
  moves,      // gives elements of its first operand: one scale for both
  joins,      // Concat
  activates,  // becomes part of the product or sum before it
};

struct OperatorRow {
  std::string_view op;
  Role role = Role::computes;
  uint32_t targets = 0;
};

std::span<const Target> targets();
const Target* find_target(std::string_view name);                          // null: there is none
const OperatorRow* find_operator(const Target& target, const Node& node);  // null for those of other domains

}  // namespace cameo::quant
