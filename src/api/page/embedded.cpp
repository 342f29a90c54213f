#include "api/page/embedded.h"

#include <utility>

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

namespace {
// Where the contents of an element of the page are.
std::pair<size_t, size_t> contents_of(std::string_view html, std::string_view id) {
  const std::string mark = support::cat("id=\"", id, "\">");
  const size_t at = html.find(mark);
  support::invariant(at != html.npos, "the page has its elements");
  const size_t from = at + mark.size();
  return {from, html.find("</script>", from)};
}
}  // namespace

bool page_has_module() {
  if (embedded_page().empty()) return false;
  const auto [from, to] = contents_of(embedded_page(), "cameo-module");
  return to > from;
}

std::string page_without_module() {
  std::string html(needed_page());
  for (const std::string_view id : {"cameo-worker", "cameo-module"}) {
    const auto [from, to] = contents_of(html, id);
    html.erase(from, to - from);
  }
  return html;
}

}  // namespace cameo::page
