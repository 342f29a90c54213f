// A folder of its own, removed with all that is in it.
#pragma once

#include <string>

namespace cameo::api {

struct TemporaryFolder {
  std::string path;
  TemporaryFolder();  // throws write.failed
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
};

}  // namespace cameo::api
