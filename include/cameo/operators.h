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
  std::vector<std::string> onnx = {};  // sorted; empty if the result is an argument or known while exporting
  bool seen = true;                    // false: no export with it was recorded, so `onnx` is not known
  int from_opset = 0;    // the oldest opset that can express it, at least for common arguments; 0: not known
  std::string why = {};  // of missing ones
};

std::vector<TorchOperator> operators();          // all that are supported, by name
std::vector<TorchOperator> missing_operators();  // PyTorch's other operators, with the reason if known

struct OperatorQuery {
  std::string pattern = {};    // part of a name of either side in any case, or with * and ?
  int opset = opsets::newest;  // those that need a newer one are missing, with the reason
  bool missing = false;        // also PyTorch's others; they are asked too where nothing else fits the pattern
};
std::vector<TorchOperator> find_operators(const OperatorQuery& query);  // throws use.no-match
std::string to_json(const std::vector<TorchOperator>& operators);       // a list of objects

// The other way round: by ONNX operator, the torch operators that become it, without overloads. Operators that nothing
// becomes are there with an empty set where the pattern names them. Throws use.no-match.
std::map<std::string, std::set<std::string>> operators_by_onnx(const std::string& pattern = "");

}  // namespace cameo
