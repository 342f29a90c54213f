// For programs that put a face on the library: a command, a binding, a page.
#pragma once

#include <string>
#include <string_view>

#include "cameo/diag.h"

namespace cameo {

// Names are as the file has them. For people: on one line, `\n`, `\t` and `\xNN` for what a terminal would not show.
std::string printable_text(std::string_view text);

// Models are views of their files. Throws file.changed where one of them lost bytes since it was read: what was found
// in it then is worth nothing.
void require_whole_files();

}  // namespace cameo
