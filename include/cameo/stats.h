// What a model is made of.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cameo/model.h"

namespace cameo {

struct Stats {
  std::map<std::string, int> opsets;                      // by domain; "" is ai.onnx
  size_t nodes = 0;                                       // bodies and functions included, each counted once
  std::vector<std::pair<std::string, size_t>> operators;  // most frequent first, then by name
  size_t weights = 0;
  uint64_t parameters = 0, weight_bytes = 0;
  std::vector<std::pair<std::string, uint64_t>> bytes_by_dtype;  // of weights, most first
  std::string macs;                          // multiply-accumulates, a number or a formula of named sizes
  size_t macs_unknown = 0;                   // nodes that multiply and whose shapes are not known
  std::optional<uint64_t> activation_bytes;  // the most alive at once, with every named size 1
  std::vector<std::string> dims;             // names of sizes in inputs and outputs

  bool macs_are_known() const;  // a number
};

// Types are inferred first.
Stats stats(Model model);
// One object, as `cameo stats --json` prints it.
std::string to_json(const Stats& stats);

// What a model is, as `cameo show --json` prints it: one object with inputs, outputs, opsets, metadata and statistics.
// `file` stands in it as its name. Types are inferred first.
std::string summary_json(Model model, const std::string& file);

}  // namespace cameo
