#include <dlfcn.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "engine/onednn/functions.h"

namespace cameo::engine {

OneDnn onednn;

namespace {

bool load() {
  const char* wish = std::getenv("CAMEO_ONEDNN");
  if (wish && std::string_view(wish) == "off") return false;
  const std::string file = "libdnnl.so." + std::to_string(DNNL_VERSION_MAJOR);
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return false;
  bool all = true;
#define X(name) all = (onednn.name = reinterpret_cast<decltype(&::name)>(dlsym(library, #name))) != nullptr && all;
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
