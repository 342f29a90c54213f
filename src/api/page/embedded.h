// The page that `make page` built, as it was when the library was compiled.
#pragma once

#include <string>
#include <string_view>

namespace cameo::page {

std::string_view embedded_page();  // empty: there was none
std::string_view needed_page();    // throws use.page where there was none
bool page_has_module();            // it carries the engine as WebAssembly
// Without that: for a page that talks to a server, or shows only.
std::string page_without_module();

}  // namespace cameo::page
