// Which Cameo this is. The build checks that it agrees with the project's version.
#pragma once

#include <string>
#include <string_view>

namespace cameo {

inline constexpr std::string_view version = "0.1.0";

struct BuildInfo {
  std::string cpu;     // features of this machine's processor that the engine asks for: "avx avx2 fma", or "none"
  std::string onednn;  // its version; empty: built without it
};
BuildInfo build_info();
// One object: version, newest opset, archive versions read, processor, oneDNN or not.
std::string to_json(const BuildInfo& info);

}  // namespace cameo
