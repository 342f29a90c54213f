// Pictures of bytes as a step of prepare: words, the pass, and the same in plain code.
#pragma once

#include <optional>
#include <string>

#include "quant/samples/samples.h"

namespace cameo::preparing {

// `image` of PrepareSettings, taken apart.
struct PictureWords {
  std::string samples;            // what samples_from understands
  quant::PictureOptions options;  // the same, read
  bool given_bgr = false, given_last = true;
  bool says_resize = false;
  std::optional<bool> any_size;  // not given: where the target takes sizes that are not fixed
  int64_t given_height = 0, given_width = 0;
};
PictureWords picture_words(const std::string& text);  // throws use.value

}  // namespace cameo::preparing
