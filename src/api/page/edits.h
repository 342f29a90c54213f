// Changes of the `edit` method: [{"change": "rename", "name": "a", "to": "b"}, ...].
#pragma once

#include <string>

#include "api/page/call.h"

namespace cameo::page {

// `flags` gets what the command line takes for the same.
Model apply_edits(Call& call, const Model& model, std::string& flags);

}  // namespace cameo::page
