// Which module a node belongs to, by its name or by the place it came from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cameo::page {

// "features.1/BatchNormalization" and "/features/features.1/BatchNormalization" give {"features", "1"}; a name without
// '/' gives nothing, and `scope` ("encoder.blocks.2") counts.
std::vector<std::string> module_path(std::string_view node_name, std::string_view scope);

}  // namespace cameo::page
