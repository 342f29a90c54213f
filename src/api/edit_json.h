// Changes of a model as JSON, for faces that have no Editor.
#pragma once

#include <string_view>

#include "cameo/model.h"

namespace cameo::faces {

// [["rename", "input.1", "x"], ["set_dim", "x", "0", "batch"]]: functions of Editor with their arguments, in order.
// Throws use.settings for what is not such a list, and what the functions throw.
Model edited(Model model, std::string_view changes_json);

}  // namespace cameo::faces
