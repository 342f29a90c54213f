// include/cameo/edit.h: settings of a non-maximum suppression as words.
#include <cstdlib>
#include <optional>

#include "support/error.h"
#include "support/number_text.h"

#include "cameo/edit.h"

namespace cameo {

namespace {}  // namespace

NmsSettings nms_settings(const std::vector<std::string>& words) {
  NmsSettings out;
  size_t numbers = 0;
  for (const std::string& word : words) {
    const auto n = support::parse_float(word);
    if (word == "center") out.center = true;
    else if (word == "classes-first") out.layout = NmsSettings::Layout::classes_first;
    else if (word == "classes-last") out.layout = NmsSettings::Layout::classes_last;
    else if (n && numbers < 2) (numbers++ ? out.score : out.iou) = *n;
    else if (n && numbers++ == 2 && *n >= -1e9F && *n <= 1e9F && *n == static_cast<float>(static_cast<int64_t>(*n)))
      out.max_per_class = static_cast<int64_t>(*n);
    else
      throw support::error("use.value", support::cat("'", word, "' is no setting of a non-maximum suppression"))
          .help("iou,score,max are numbers, the last a whole one; then come center, classes-first or classes-last");
  }
  return out;
}

}  // namespace cameo
