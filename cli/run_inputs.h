// What `cameo run` gives to each run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cameo/session.h"
#include "cli/verb.h"

namespace cameo::cli {

// A named size, or a range of sizes that the runs take in turn.
struct SizeRange {
  int64_t first = 1, last = 1;
  int64_t at(int64_t run) const { return first + run % (last - first + 1); }
};

class RunInputs {
 public:
  RunInputs(const Model& model, const Args& args);  // throws use.conflict, use.inputs, use.value
  const std::vector<NamedValue>& of(int64_t run);
  std::string sizes_text(const Model& model) const;  // "batch = 1, h = 32": of the first run; empty: no size is open

 private:
  std::map<std::string, int64_t> sizes(int64_t run) const;  // that were given
  std::vector<NamedValue> made_up(const Model& model, int64_t run) const;
  std::map<std::string, SizeRange> sizes_;
  uint64_t seed_ = 0;
  std::optional<Model> model_;  // where the sizes change from run to run
  std::vector<NamedValue> values_;
};

}  // namespace cameo::cli
