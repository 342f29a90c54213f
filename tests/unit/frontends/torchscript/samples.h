// The recorded archives under tests/data/torchscript.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "frontends/torchscript/program.h"

namespace cameo::torchscript {

inline std::string sample_path(const std::string& name) { return CAMEO_SOURCE_DIR "/tests/data/torchscript/" + name; }
inline Program sample(const std::string& name) { return read_torchscript(sample_path(name)); }

// All archives below a folder, sorted; none when there is no such folder.
inline std::vector<std::string> archives_below(const std::string& folder) {
  std::vector<std::string> all;
  if (!std::filesystem::exists(folder)) return all;
  for (const auto& f : std::filesystem::recursive_directory_iterator(folder)) {
    const auto name = f.path().filename().string();
    if ((name.ends_with(".pt") || name.ends_with(".ptl")) && !name.starts_with("wrong_"))
      all.push_back(f.path().string());
  }
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace cameo::torchscript
