// A model that is read for a verb.
#pragma once

#include <string>

#include "cameo/model.h"
#include "cli/out.h"

namespace cameo::cli {

// Reads an ONNX model and shows what was found meanwhile. An archive is refused with what to do instead.
Model opened(const std::string& path, Out& out);

}  // namespace cameo::cli
