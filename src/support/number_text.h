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

// As strtod and printf do it, with a point in every locale. `used`: how many characters the number at the beginning
// takes, white space before it included; 0: there is none.
double leading_double(std::string_view text, size_t& used);
std::string fraction_text(double v);                  // the shortest that is read back as a fraction: "1.0", "1e-05"
std::string fixed_text(double v, int decimals);       // "%.*f"
std::string short_text(double v, int digits);         // "%.*g"
std::string scientific_text(double v, int decimals);  // "%.*e"

}  // namespace cameo::support
