// What a file's name promises.
#pragma once

#include <initializer_list>
#include <string_view>

#include "support/layers.h"

namespace cameo::support {

// Throws use.extension where the name of an output ends in another extension than these: what would be written is not
// what the name says. A name without one, "-" and devices may hold anything.
void need_extension(std::string_view path, std::initializer_list<std::string_view> allowed);

}  // namespace cameo::support
