#include <algorithm>
#include <utility>

#include "ir/dtype_words.h"
#include "staging/export.h"
#include "staging/export/input_sizes.h"
#include "support/ascii.h"
#include "support/number_text.h"

namespace cameo::staging {

namespace {
[[noreturn]] void bad(std::string_view text, std::string why) {
  throw error("use.input", cat("--input '", text, "': ", why))
      .help("write NAME=DTYPE[DIMS], for example 'x=f32[batch,3,224,224]', or NAME=VALUE");
}

[[noreturn]] void bad_dtype(std::string_view text, std::string_view given) {
  const std::string_view ours = dtype_in_our_words(given);
  if (ours.empty()) bad(text, cat("'", given, "' is not a dtype"));
  throw error("use.input", cat("--input '", text, "': '", given, "' is written ", ours))
      .help(cat("--input '", text.substr(0, text.find('=') + 1), ours, text.substr(text.find('[')), "'"));
}

// "(1, 3, 224)" as "1,3,224".
std::string sizes_in(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c >= '0' && c <= '9') out += c;
    else if (!out.empty() && out.back() != ',') out += ',';
  }
  return out.ends_with(',') ? out.substr(0, out.size() - 1) : out;
}

// "1x3x224x224" would be one size of that name.
bool is_product(std::string_view dim) {
  const size_t first = dim.find_first_not_of("0123456789");
  return first != dim.npos && first > 0 && (dim[first] == 'x' || dim[first] == '*') && first + 1 < dim.size() &&
         dim.find_first_not_of("0123456789x*") == dim.npos;
}
}  // namespace

void check_value_of_tensor(const std::string& path, std::string_view text) {
  if (text == "None" || text == "True" || text == "False" || parse_double(text)) return;
  const bool is_shape = text.find_first_not_of("0123456789, x[]()") == text.npos;
  throw error("use.input", cat("the argument '", path, "' is a tensor, and '", text, "' is none"))
      .help(is_shape ? cat("if it is its shape: --input '", path, "=f32[", sizes_in(text), "]'")
                     : cat("write --input '", path, "=f32[batch,3,224,224]', with its own type and sizes"));
}

InputSpec parse_input_spec(std::string_view text) {
  InputSpec out;
  const auto equals = text.find('=');
  if (equals == text.npos || equals == 0) bad(text, "there is no name before '='");
  out.name = text.substr(0, equals);
  const auto rest = text.substr(equals + 1);
  const auto open = rest.find('[');
  const auto dtype = open == rest.npos ? std::nullopt : dtype_from_name(rest.substr(0, open));
  if (!dtype) {
    if (open != rest.npos && open > 0 && rest.find_first_of("'\" ") == rest.npos && ascii::is_alpha(rest[0]))
      bad_dtype(text, rest.substr(0, open));
    out.fixed = std::string(rest);
    return out;
  }
  if (rest.back() != ']') bad(text, "the ']' is missing");
  out.dtype = dtype;
  auto inside = rest.substr(open + 1, rest.size() - open - 2);
  while (!inside.empty()) {
    const auto comma = size_end(inside);
    auto dim = inside.substr(0, comma);
    while (dim.starts_with(' ')) dim.remove_prefix(1);
    while (dim.ends_with(' ')) dim.remove_suffix(1);
    if (dim.empty()) bad(text, "a size is empty");
    if (is_product(dim)) bad(text, cat("commas stand between sizes, not '", dim, "'"));
    out.dims.emplace_back(dim);
    inside.remove_prefix(std::min(comma + 1, inside.size()));
  }
  return out;
}

}  // namespace cameo::staging
