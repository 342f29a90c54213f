// Sizes as users write them: "batch", "h:1..64", "w:%32", "3", and 'any name' in quotes, with \\ before a quote in it.
#pragma once

#include <string>
#include <string_view>

#include "ir/graph.h"

namespace cameo::staging {

// A literal or a named symbol of the graph, with the range or multiple that the text says. Throws "use.input".
Dim input_size(Graph& graph, const std::string& input, std::string_view text);

// What was given for an argument that is a tensor: a number, True, False or None may be meant; a shape or a word in
// place of a type is "use.input".
void check_value_of_tensor(const std::string& path, std::string_view text);

// Where the first size of a list ends: at a comma outside of quotes, or at the end.
size_t size_end(std::string_view text);

}  // namespace cameo::staging
