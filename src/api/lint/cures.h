// What helps against a finding: the last cell of a row, in the words of the command.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/lint/target_file.h"

namespace cameo::linting {

// A cell is `opset 17`, `simplify`, `fixed-sizes`, `inline`, `expand`, `widen`, `outputs 2`, `f32`,
// `attr sorted=1`, or `say: ` and advice for people.
struct Cure {
  std::string name;                // "opset"
  std::vector<std::string> words;  // {"17"}
  friend bool operator==(const Cure&, const Cure&) = default;
};
std::vector<std::string> words_of(std::string_view text, std::string_view between);
Cure cure_of(const std::string& cell);  // throws a Bug for a cell that is none
bool is_fixable(const Cure& cure);

// As a person would type it. `node` and `op` are what the finding is about.
std::string command_text(const Cure& cure, const std::string& target, const std::string& node, const std::string& op);

}  // namespace cameo::linting
