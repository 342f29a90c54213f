// Everything that is known of one item, as JSON.
#pragma once

#include "api/page/call.h"

namespace cameo::page {

void write_item(json::Writer& w, const Opened& model, const Tree& tree, uint32_t item);

}  // namespace cameo::page
