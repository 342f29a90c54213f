// The samples of one quantization: the first ones are kept, to be looked at several times.
#pragma once

#include <vector>

#include "quant/quantize.h"

namespace cameo::quant {

class KeptSamples {
 public:
  explicit KeptSamples(const Samples& from) : from_(from) {}

  // Reads `most` samples, or fewer that fill the memory that is allowed. Throws quantize.samples and quantize.nan where
  // there are none.
  void read(size_t most);
  // The next sample behind those that are kept, without NaN; infinities are what masks hold.
  bool next(std::vector<Datum>& inputs);
  // No sample gives the input a value.
  bool leaves_open(size_t input) const;
  // From now on samples are without this input.
  void drop(size_t input);

  const std::vector<std::vector<Datum>>& all() const { return kept_; }
  std::vector<std::vector<Datum>> few() const;                 // an even selection
  uint64_t without_number() const { return without_number_; }  // samples that hold NaN, which are left out

 private:
  const Samples& from_;
  std::vector<std::vector<Datum>> kept_;
  std::vector<size_t> dropped_;
  uint64_t without_number_ = 0;
};

}  // namespace cameo::quant
