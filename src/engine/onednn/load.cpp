#include <cstdlib>
#include <string>
#include <string_view>

#include "engine/onednn/functions.h"
#include "support/shared_library.h"

namespace cameo::engine {

OneDnn onednn;

namespace {

bool load() {
  const char* wish = std::getenv("CAMEO_ONEDNN");
  if (wish && std::string_view(wish) == "off") return false;
  const std::string file = "libdnnl.so." + std::to_string(DNNL_VERSION_MAJOR);
  const SharedLibrary library(file.c_str());
  bool all = library.there();
#define X(name) all = library.find(onednn.name, #name) && all;
  CAMEO_ONEDNN_FUNCTIONS(X)
#undef X
  return all && onednn.dnnl_version()->minor >= DNNL_VERSION_MINOR;
}

}  // namespace

bool load_onednn() {
  static const bool there = load();
  return there;
}

}  // namespace cameo::engine
