// `cameo show` of PyTorch archives.
#pragma once

#include <string>

#include "cameo/archive.h"
#include "cli/out.h"

namespace cameo::cli {

// `method`: which program of a torch.export package that holds several.
void show_archive(const Model& archive, const std::string& path, const std::string& method, Out& out);

}  // namespace cameo::cli
