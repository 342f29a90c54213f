// What a model is made of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cameo/model.h"

namespace cameo {

struct Stats {
  size_t nodes = 0;                                       // bodies and functions included, each counted once
  std::vector<std::pair<std::string, size_t>> operators;  // most frequent first, then by name
  size_t weights = 0;
  uint64_t parameters = 0, weight_bytes = 0;
  std::vector<std::pair<std::string, uint64_t>> bytes_by_dtype;  // of weights, most first
  std::string macs;                          // multiply-accumulates, a number or a formula of named sizes
  size_t macs_unknown = 0;                   // nodes that multiply and whose shapes are not known
  std::optional<uint64_t> activation_bytes;  // the most alive at once, with every named size 1
  std::vector<std::string> dims;             // names of sizes in inputs and outputs
};

// Types are inferred first.
Stats stats(const Model& model);

}  // namespace cameo
