#pragma once

#include "api/archive_info.h"
#include "cli/out.h"
#include "formats/json.h"
#include "frontends/pt2/program.h"
#include "frontends/torchscript/program.h"
#include "ir/dim.h"

namespace cameo::cli {

// `cameo show` of a TorchScript archive.
int show_archive(torchscript::Program& program, bool text, Out& out);
// Of a torch.export archive.
int show_pt2(pt2::Program& program, bool text, Out& out);

// What both have: the operators with their counts, for people and as a member of the JSON object.
void print_operators(const std::vector<ArchiveOperator>& operators, Out& out);
void json_operators(json::Writer& w, const std::vector<ArchiveOperator>& operators);

// A number, or its formula where it depends on dynamic sizes.
void json_count(json::Writer& w, const Dim& count);

}  // namespace cameo::cli
