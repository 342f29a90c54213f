// The names values have in a file: those they came with, and readable new ones where they have none.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/graph.h"
#include "support/name_table.h"

namespace cameo::onnx {

class Names {
 public:
  explicit Names(const Graph& g);

  // Unique where it is seen; made on the first call when the value has none: "Conv_3", "constant_0".
  const std::string& of(ValueId v);
  // Two values had the same name where only one can be meant; this one gets another.
  bool renamed(ValueId v) const { return !changed_.empty() && changed_.count(v) != 0; }
  bool any_renamed() const { return !changed_.empty(); }
  // The value that a name means inside a region; none when it means nothing.
  ValueId visible(std::string_view name, RegionId region) const;

 private:
  bool captured_over(ValueId outer, RegionId inner) const;
  std::string make(ValueId v);

  const Graph& g_;
  std::vector<NameTable<ValueId>> defined_;  // by region
  std::unordered_set<std::string> taken_;    // filled when the first name has to be made
  std::unordered_set<ValueId> changed_;
  std::unordered_map<ValueId, std::string> made_;
  std::unordered_map<std::string, uint32_t> next_;  // number to try first, by stem
};

}  // namespace cameo::onnx
