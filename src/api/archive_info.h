// What archives hold, for people: include/cameo/archive.h from programs that were read.
#pragma once

#include <string>

#include "frontends/pt2/program.h"
#include "frontends/torchscript/program.h"

#include "cameo/archive.h"

namespace cameo::api {

TorchScriptInfo archive_info(torchscript::Program& program);
TorchExportInfo pt2_info(pt2::Program& program);

// Whether staging or a lowering knows some overload of "aten::add_".
bool torch_operator_lowers(const std::string& name);

// The program as text: one line per call, with the archive's own names.
std::string pt2_text(const pt2::Program& program);

}  // namespace cameo::api
