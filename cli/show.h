#pragma once

#include "cli/out.h"
#include "frontends/pt2/program.h"
#include "frontends/torchscript/program.h"

namespace cameo::cli {

// `cameo show` of a TorchScript archive.
int show_archive(torchscript::Program& program, bool text, Out& out);
// Of a torch.export archive.
int show_pt2(pt2::Program& program, bool text, Out& out);

}  // namespace cameo::cli
