// Quantized tensors. While staging one is its dequantized float value, which remembers how it was quantized: the graph
// gets QuantizeLinear and DequantizeLinear pairs around float operators, the form that engines fuse.
#pragma once

#include <array>

#include "staging/machine/machine.h"

namespace cameo::staging {

// Rounds `x` to the grid of the given quantization and marks the result as quantized so.
V quantized(Machine& s, V x, Quantization q);
// By numbers, as operators give an output's scale and zero point.
V quantized(Machine& s, V x, const Value& scale, const Value& zero_point, DType dtype);
// What torch's integer kernels do before a product when only the weights are quantized: 8 bits by the tensor's own
// range.
V quantized_by_range(Machine& s, V x, bool reduce_range);
// A float operator whose result does not take its operand's grid.
Value plain(HostCall& c, std::string_view op, std::vector<Value> args);
// The result of an operator on a quantized tensor: on the same grid by itself, or rounded to it.
V carried(Machine& s, std::string_view op, const Quantization& q, V result);

// A C++ object of prepacked weights.
struct Packed {
  Value weight, bias;
  std::vector<Value> stride, padding, dilation, output_padding;
  Dim groups{1};
  bool transposed = false;
};
Value make_packed(Machine& s, Packed p);
Packed packed(Machine& s, const Value& object);  // also as a pickle holds it; throws "stage.native-class"
// The two linear layers of a recurrent cell, which an object of rnn.CellParamsBase holds: of its input, of its state.
std::array<Packed, 2> packed_cell(Machine& s, const Value& object);  // throws "stage.native-class"
// The table that an object of EmbeddingPackedParamsBase holds, quantized by rows. Throws "stage.native-class".
V packed_table(Machine& s, const Value& object);

}  // namespace cameo::staging
