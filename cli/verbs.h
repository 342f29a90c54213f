// Every verb's entry: takes what follows the verb on the command line, gives the exit code.
#pragma once

#include <span>
#include <string_view>

#include "cli/out.h"

namespace cameo::cli {

using Raw = std::span<const std::string_view>;

// The whole command line but the flags that every verb honours: finds the verb and runs it. Gives the exit code.
int run_command(Raw args, Out& out);

int check_main(Raw raw, Out& out);
int completion_main(Raw raw, Out& out);
int convert_main(Raw raw, Out& out);
int diff_main(Raw raw, Out& out);
int edit_main(Raw raw, Out& out);
int explain_main(Raw raw, Out& out);
int export_main(Raw raw, Out& out);
int extract_main(Raw raw, Out& out);
int infer_main(Raw raw, Out& out);
int lint_main(Raw raw, Out& out);
int merge_main(Raw raw, Out& out);
int onnxsim_main(Raw raw, Out& out);
int ops_main(Raw raw, Out& out);
int run_main(Raw raw, Out& out);
int simplify_main(Raw raw, Out& out);
int stats_main(Raw raw, Out& out);
int show_main(Raw raw, Out& out);
int verify_main(Raw raw, Out& out);
int view_main(Raw raw, Out& out);
int prepare_main(Raw raw, Out& out);
int quantize_main(Raw raw, Out& out);

}  // namespace cameo::cli
