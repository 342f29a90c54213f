// ONNX's own node models, in order; none where CAMEO_CONFORMANCE does not name the unpacked cases.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

namespace cameo::tests {

inline std::vector<std::filesystem::path> node_models() {
  std::vector<std::filesystem::path> out;
  const char* folder = std::getenv("CAMEO_CONFORMANCE");
  if (!folder) return out;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (std::filesystem::exists(entry.path() / "model.onnx")) out.push_back(entry.path() / "model.onnx");
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace cameo::tests
