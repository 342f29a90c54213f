// Sizes as users write them: "batch", "h:1..64", "w:%32", "3", and 'any name' in quotes, with \\ before a quote in it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace cameo::staging {

// A size in its parts: without quotes, and what follows the colon.
struct WrittenSize {
  std::string name;
  std::optional<std::string_view> rule;
};
WrittenSize written_size(std::string_view text);

// A name that has a range in one place has it everywhere: without one it would be taken to be at least 1.
void share_ranges(const std::vector<std::string*>& sizes);

// A literal or a named symbol of the graph, with the range or multiple that the text says. Throws "use.input".
Dim input_size(Graph& graph, const std::string& input, std::string_view text);

// What was given for an argument that is a tensor: a number, True, False or None may be meant; a shape or a word in
// place of a type is "use.input".
void check_value_of_tensor(const std::string& path, std::string_view text);

// Where the first size of a list ends: at a comma outside of quotes, or at the end.
size_t size_end(std::string_view text);

}  // namespace cameo::staging
