// Text inside HTML and SVG.
#pragma once

#include <string>
#include <string_view>

namespace cameo::api {

std::string xml_text(std::string_view text);  // printable text, so that no character of it is read as markup

}  // namespace cameo::api
