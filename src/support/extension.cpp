#include "support/extension.h"

#include <algorithm>

#include "support/error.h"

namespace cameo::support {

void need_extension(std::string_view path, std::initializer_list<std::string_view> allowed) {
  const std::string_view name = path.substr(path.find_last_of('/') + 1);
  const size_t dot = name.find_last_of('.');
  if (dot == name.npos || dot == 0 || path.starts_with("/dev/")) return;
  const auto fits = [&](std::string_view extension) { return name.ends_with(extension); };
  if (std::any_of(allowed.begin(), allowed.end(), fits)) return;
  std::string names;
  for (const std::string_view extension : allowed) names += cat(names.empty() ? "" : ", ", extension);
  throw error("use.extension", cat("'", path, "': a file of this kind is not written as ", name.substr(dot)))
      .help(cat("names end in ", names));
}

}  // namespace cameo::support
