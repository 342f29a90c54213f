// The text in a box, how large that makes it, and which kind of operator it is (its colour).
#pragma once

#include <string>
#include <string_view>

#include "api/page/tree.h"

namespace cameo::page {

struct BoxSize {
  double width = 0, height = 0;
};

std::string title_of(const Item& item);           // shortened where it is long
std::string_view family_of(std::string_view op);  // "compute", "activation", ...; "other"
BoxSize box_size(const Item& item);
std::string shortened(std::string_view text, size_t most);  // the middle left out; whole UTF-8 characters

}  // namespace cameo::page
