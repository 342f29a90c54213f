// Which Cameo this is. The build checks that it agrees with the project's version.
#pragma once

#include <string_view>

namespace cameo {

inline constexpr std::string_view version = "0.1.0";

}  // namespace cameo
