#include <charconv>

#include "staging/export.h"
#include "staging/export/input_sizes.h"

namespace cameo::staging {

namespace {
[[noreturn]] void bad(std::string_view text, std::string why) {
  throw error("use.input", cat("--input '", text, "': ", why))
      .help("write NAME=DTYPE[DIMS], for example 'x=f32[batch,3,224,224]', or NAME=VALUE");
}
}  // namespace

InputSpec parse_input_spec(std::string_view text) {
  InputSpec out;
  const auto equals = text.find('=');
  if (equals == text.npos || equals == 0) bad(text, "there is no name before '='");
  out.name = text.substr(0, equals);
  const auto rest = text.substr(equals + 1);
  const auto open = rest.find('[');
  const auto dtype = open == rest.npos ? std::nullopt : dtype_from_name(rest.substr(0, open));
  if (!dtype) {
    if (open != rest.npos && open > 0 && rest.find_first_of("'\" ") == rest.npos &&
        std::isalpha(static_cast<unsigned char>(rest[0])))
      bad(text, cat("'", rest.substr(0, open), "' is not a dtype"));
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
    out.dims.emplace_back(dim);
    inside.remove_prefix(std::min(comma + 1, inside.size()));
  }
  return out;
}

}  // namespace cameo::staging
