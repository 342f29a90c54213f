#include "api/page/embedded.h"

#include "support/error.h"

#ifdef CAMEO_PAGE  // cmake/page.cmake: the file's path
__asm__(
    ".section .rodata\n"
    "cameo_page_begin:\n"
    ".incbin \"" CAMEO_PAGE
    "\"\n"
    "cameo_page_end:\n"
    ".byte 0\n"
    ".previous\n");
extern const char cameo_page_begin[] __asm__("cameo_page_begin");
extern const char cameo_page_end[] __asm__("cameo_page_end");
#endif

namespace cameo::page {

std::string_view embedded_page() {
#ifdef CAMEO_PAGE
  return {cameo_page_begin, static_cast<size_t>(cameo_page_end - cameo_page_begin)};
#else
  return {};
#endif
}

std::string_view needed_page() {
  if (embedded_page().empty())
    throw support::error("use.page", "this build has no page")
        .help("make page builds it; pictures (-o FILE.svg) need none");
  return embedded_page();
}

}  // namespace cameo::page
