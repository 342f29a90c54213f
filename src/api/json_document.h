// JSON that a caller wrote.
#pragma once

#include <string_view>

#include "formats/json.h"

namespace cameo::faces {

// Throws use.settings where it is not JSON; `what` names it: "the settings are not JSON: it ends too early".
json::Document json_document(std::string_view text, std::string_view what);

}  // namespace cameo::faces
