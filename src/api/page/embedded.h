// The page that `make page` built, as it was when the library was compiled.
#pragma once

#include <string_view>

namespace cameo::page {

std::string_view embedded_page();  // empty: there was none
std::string_view needed_page();    // throws use.page where there was none

}  // namespace cameo::page
