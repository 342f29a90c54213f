// Which PyTorch operator becomes which ONNX operators.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cameo/opset.h"

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

struct OperatorQuery {
  std::string pattern = {};    // part of a name of either side, or with * and ?; empty: all
  int opset = opsets::newest;  // those that need a newer one are missing, with the reason
  bool missing = false;        // also PyTorch's others; they are asked too where nothing else fits the pattern
};
std::vector<TorchOperator> find_operators(const OperatorQuery& query);  // throws use.no-match
std::string to_json(const std::vector<TorchOperator>& operators);       // a list of objects

// The other way round: by ONNX operator, the torch operators that become it, without overloads.
std::map<std::string, std::set<std::string>> operators_by_onnx(const std::string& pattern = "");

}  // namespace cameo
