#include "quant/calibrate/divergence.h"

#include <cmath>

namespace cameo::quant {

namespace {

constexpr double nothing = 1e-9;  // of a level without numbers, to which those beyond are added

double times_log(double x) { return x > 0 ? x * std::log(x) : 0; }

}  // namespace

Cumulated::Cumulated(const std::vector<double>& bins) {
  for (const double n : bins) {
    numbers.push_back(numbers.back() + n);
    filled.push_back(filled.back() + (n > 0));
    own.push_back(own.back() + times_log(n));
  }
}

double divergence(const Cumulated& p, size_t kept, size_t levels) {
  const double total = p.numbers.back(), beyond = total - p.numbers[kept];
  const double last = p.filled[kept] > p.filled[kept - 1] ? p.numbers[kept] - p.numbers[kept - 1] : 0;
  double out = p.own[kept] - times_log(last) + times_log(last + beyond);
  for (size_t level = 0; level < levels; ++level) {
    const size_t from = level * kept / levels, to = (level + 1) * kept / levels, filled = p.filled[to] - p.filled[from];
    const double sum = p.numbers[to] - p.numbers[from], mine = sum + (level + 1 == levels ? beyond : 0);
    if (filled > 0 && sum > 0) out -= mine * std::log(sum / static_cast<double>(filled));
    else if (mine > 0) out -= mine * std::log(nothing);
  }
  return out / total;
}

}  // namespace cameo::quant
