// Which torch operator becomes which ONNX operators.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/layers.h"

namespace cameo::api {

enum class Support : uint8_t {
  lowered,  // becomes nodes
  staged,   // computed while exporting: sizes, lists, strings
  missing,
};

struct TorchOperator {
  std::string name;  // an overload, "aten::add.Tensor"; of staged ones all overloads, "aten::append"
  Support support = Support::missing;
  std::vector<std::string> onnx;  // sorted; none where the answer is its argument, or is known
  bool seen = true;               // false: never seen at work, so that `onnx` says nothing
  int64_t from_opset = 0;         // the oldest opset that can say it, at least for common arguments; 0: not known
  std::string why;                // of missing ones
};

// All that are supported, by name. Emitted operators are those that exports and probes were seen to emit: tools/operators.py
// writes them down in generated/lowered_operators.h.
std::vector<TorchOperator> supported_operators();
// Overloads of the signatures that nothing supports, with the reason as far as one can be told. In-place and out= forms of
// supported ones are not among them: they follow the functional form.
std::vector<TorchOperator> missing_operators();

// A row of the generated table.
struct SeenLowering {
  std::string_view name;
  int64_t from_opset;     // -1: never seen at work
  std::string_view onnx;  // separated by spaces
};
std::span<const SeenLowering> seen_lowerings();

}  // namespace cameo::api
