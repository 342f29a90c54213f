#include "api/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "support/error.h"

namespace cameo::api {

TemporaryFolder::TemporaryFolder() {
  std::error_code none;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(none);
  path = (none ? std::filesystem::path("/tmp") : folder) / "cameo-XXXXXX";
  if (!mkdtemp(path.data()))
    throw support::error("write.failed", support::cat("cannot make a folder ", path)).why(std::strerror(errno));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

}  // namespace cameo::api
