// What the files of `cameo ops` share.
#pragma once

#include "cli/out.h"

namespace cameo::cli {

void print_operators_page(Out& out);  // the whole table as docs/operators.md has it

}  // namespace cameo::cli
