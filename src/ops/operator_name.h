// Names of operators as people write them.
#pragma once

#include <string_view>
#include <utility>

namespace cameo::ops {

// "my.domain::Op", "my.domain.Op", "Op": domain and name. ONNX's own domain is "".
inline std::pair<std::string_view, std::string_view> domain_and_name(std::string_view text) {
  const size_t colons = text.rfind("::"), dot = text.rfind('.');
  const bool has_colons = colons != text.npos;
  if (!has_colons && dot == text.npos) return {"", text};
  const std::string_view domain = text.substr(0, has_colons ? colons : dot);
  return {domain == "ai.onnx" ? "" : domain, text.substr(has_colons ? colons + 2 : dot + 1)};
}

}  // namespace cameo::ops
