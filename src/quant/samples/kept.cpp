#include "quant/samples/kept.h"

#include <algorithm>
#include <cmath>

#include "kernels/carrier.h"
#include "support/error.h"

namespace cameo::quant {

namespace {

constexpr size_t few_samples = 4;                          // that predict what all of them verify
constexpr uint64_t most_kept_bytes = uint64_t{128} << 20;  // of samples that are run again

bool holds_nan(const Datum& d) {
  if (d.kind != Datum::Kind::tensor || !is_float(d.tensor.dtype())) return false;
  const Loaded<float> numbers(d.tensor);
  return std::any_of(numbers.span().begin(), numbers.span().end(), [](float x) { return std::isnan(x); });
}

void remove(std::vector<Datum>& inputs, size_t input) {
  if (input < inputs.size()) inputs.erase(inputs.begin() + static_cast<std::ptrdiff_t>(input));
}

}  // namespace

void KeptSamples::read(size_t most) {
  std::vector<Datum> inputs;
  uint64_t bytes = 0;
  while (kept_.size() < most && bytes <= most_kept_bytes) {
    if (!next(inputs)) break;
    for (const Datum& d : inputs)
      if (d.kind == Datum::Kind::tensor) bytes += d.tensor.bytes().size();
    kept_.push_back(inputs);
  }
  if (kept_.empty() && without_number_) throw error("quantize.nan", cat("all ", without_number_, " samples hold NaN"));
  if (kept_.empty())
    throw error("quantize.samples", "there are no samples to calibrate with")
        .help("some dozens of inputs as the model will see them");
}

bool KeptSamples::next(std::vector<Datum>& inputs) {
  for (inputs.clear(); from_(inputs); inputs.clear()) {
    for (const size_t input : dropped_) remove(inputs, input);
    if (std::none_of(inputs.begin(), inputs.end(), holds_nan)) return true;
    ++without_number_;
  }
  return false;
}

bool KeptSamples::leaves_open(size_t input) const {
  return std::all_of(kept_.begin(), kept_.end(), [&](const std::vector<Datum>& inputs) {
    return input >= inputs.size() || inputs[input].kind == Datum::Kind::none;
  });
}

void KeptSamples::drop(size_t input) {
  dropped_.push_back(input);
  for (auto& inputs : kept_) remove(inputs, input);
}

std::vector<std::vector<Datum>> KeptSamples::few() const {
  std::vector<std::vector<Datum>> out;
  const size_t step = (kept_.size() + few_samples - 1) / few_samples;
  for (size_t i = 0; i < kept_.size(); i += step) out.push_back(kept_[i]);
  return out;
}

}  // namespace cameo::quant
