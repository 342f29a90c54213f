// include/cameo/face.h.
#include "formats/mapped_file.h"
#include "support/text.h"

#include "cameo/face.h"

namespace cameo {

std::string printable_text(std::string_view text) { return support::printable(text); }

void require_whole_files() { formats::require_whole_files(); }

}  // namespace cameo
