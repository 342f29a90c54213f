// A scene as an SVG picture that needs nothing else.
#pragma once

#include <string>

#include "api/page/scene.h"

namespace cameo::page {

std::string svg_text(const Tree& tree, const Scene& scene);

}  // namespace cameo::page
