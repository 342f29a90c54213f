// Versions of operator sets.
#pragma once

#include <cstdint>
#include <string_view>

#include "support/layers.h"

namespace cameo::ops {

// The newest version of a domain that Cameo has schemas for; 0 for domains it does not know.
int64_t newest_version(std::string_view domain);
// Whether it has schemas for all of a domain's operators: ONNX's own domains. Of others it knows only some.
inline bool is_known_whole(std::string_view domain) { return domain.empty() || domain.starts_with("ai.onnx"); }

}  // namespace cameo::ops
