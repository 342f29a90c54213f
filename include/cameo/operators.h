// Which PyTorch operator becomes which ONNX operators.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cameo {

enum class Support : uint8_t {
  lowered,  // becomes nodes
  staged,   // computed while exporting: sizes, lists, strings
  missing,
};

struct TorchOperator {
  std::string name;  // an overload, "aten::add.Tensor"; of staged ones all overloads, "aten::append"
  Support support = Support::missing;
  std::vector<std::string> onnx = {};  // sorted; none where the answer is its argument, or is known
  bool seen = true;                    // false: never seen at work, so that `onnx` says nothing
  int from_opset = 0;                  // the oldest opset that can say it, at least for common arguments; 0: not known
  std::string why = {};                // of missing ones
};

std::vector<TorchOperator> operators();          // all that are supported, by name
std::vector<TorchOperator> missing_operators();  // PyTorch's others, with the reason as far as one can be told

}  // namespace cameo
