// Changes of a model as JSON: the form that C and the page have in common. docs/edit.md has it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/json.h"

#include "cameo/model.h"

namespace cameo::faces {

struct Edited {
  Model model;
  // What the command line takes for the same: {"rename", "input.1=x"}, {"strip", ""}.
  std::vector<std::pair<std::string_view, std::string>> flags;
};

// [["rename", "input.1", "x"], ["set_dim", "x", 0, "batch"]]: functions of Editor with their arguments, in order.
// Throws use.settings for what is not such a list, and what the functions throw. Without `files`, changes that read a
// file are refused.
Edited edited(Model model, const json::Value& changes, bool files);
Model edited(Model model, std::string_view changes_json);

}  // namespace cameo::faces
