// Sizes as files and people say them.
#pragma once

#include <string>

#include "ir/dim.h"

namespace cameo::ir {

// Like text(), but a name stands as it was given ("batch.size", "b-1", "x*y") where reading cannot mistake it for an
// expression over other sizes of the same model.
std::string name_or_text(Dim d);

}  // namespace cameo::ir
