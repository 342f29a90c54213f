// Types and arguments of torch.export's graphs as text.
#pragma once

#include <string>
#include <string_view>

#include "formats/json.h"

namespace cameo::api {

json::Value pt2_meta(json::Value graph, std::string_view name);  // a tensor's; missing for what is none
std::string pt2_type(json::Value graph, std::string_view name);  // "f32[s77,3]", "int s77"; empty for unknown names
std::string pt2_argument(json::Value tagged);                    // "x", "[2, 2]", "None", "f32"; graphs as "..."

}  // namespace cameo::api
