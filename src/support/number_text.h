// Numbers to text and back, the same on every platform: the shortest decimal that reads back to the same bits.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "support/layers.h"

namespace cameo::support {

// "1.5", "1e-05", "inf", "-inf", "nan", "-nan": never more digits than needed. Whole numbers have no point.
void append_shortest(std::string& out, float v);
void append_shortest(std::string& out, double v);

// The whole of `text` as a number, rounded once; out of range gives zero or infinity. nullopt when it is not a number.
std::optional<float> parse_float(std::string_view text);
std::optional<double> parse_double(std::string_view text);

}  // namespace cameo::support
