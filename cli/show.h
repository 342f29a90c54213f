#pragma once

#include "cli/out.h"
#include "frontends/torchscript/program.h"

namespace cameo::cli {

// `cameo show` of a TorchScript archive.
int show_archive(torchscript::Program& program, bool text, Out& out);

}  // namespace cameo::cli
