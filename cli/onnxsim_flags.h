// onnxsim's flags, each with what it is here.
#pragma once

#include "cli/verb.h"

namespace cameo::cli {

using Words = std::vector<std::string>;

struct OnnxsimFlag {
  enum class Takes { nothing, one, many, maybe };
  std::string_view name;
  Takes takes;
  void (*translate)(const Words& values, Words& out);  // null: refused
  std::string_view note;                               // help, or what to do where it is refused
};

// onnxsim freezes weights that are inputs; this word among the translated flags says that they stay inputs.
inline constexpr std::string_view keep_initializers = "keep initializers";

const OnnxsimFlag& onnxsim_flag(std::string_view name);  // throws use.unknown-flag, use.unsupported-flag
std::string onnxsim_flag_list(bool for_shells);          // of those that are supported

}  // namespace cameo::cli
