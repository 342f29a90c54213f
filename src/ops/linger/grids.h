// What linger's nodes say about the numbers that go in and out: which operand is quantised how, and every result.
#pragma once

#include <optional>

#include "ir/graph.h"
#include "ops/linger/number.h"

namespace cameo::ops::linger {

inline constexpr std::string_view domain = "linger";

struct Quantised : Grid {
  Rounding how = Rounding::floor_add;
};

bool is_linger(const Node& n);  // of the domain, and understood
bool has_linger(const Graph& g);

// Operand `i` as the node wants it; none where it takes floats or any number (states, indices, Dequant).
std::optional<Quantised> operand_grid(const Node& n, size_t i);
// Result `i`; none where it is float.
std::optional<Quantised> result_grid(const Node& n, size_t i);

// An attribute by name: a number, or none where the node does not have it.
std::optional<double> number_of(const Node& n, std::string_view attribute);
std::optional<std::string> text_of(const Node& n, std::string_view attribute);

// ONNX's operators that quantised numbers may go through unchanged, and which of their operands are of the data's kind.
struct Passing {
  std::string_view op;
  size_t first_value = SIZE_MAX;  // bounds of Clip, the filling of Pad: on the data's grid
  size_t results = SIZE_MAX;      // how many results are quantised
};
const Passing* passing(const Node& n);

}  // namespace cameo::ops::linger
