// A scene as an SVG picture that needs nothing else.
#pragma once

#include <string>

#include "api/page/scene.h"

namespace cameo::page {

std::string svg_text(const Tree& tree, const Scene& scene);
std::string xml_text(std::string_view text);  // escaped, for contents and attributes

}  // namespace cameo::page
