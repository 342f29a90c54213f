// What a TorchScript archive holds, for people: methods with their signatures, operators and whether each lowers.
#pragma once

#include <string>
#include <vector>

#include "frontends/torchscript/program.h"

namespace cameo::api {

struct ArchiveOperator {
  std::string name;  // "aten::conv2d"
  size_t count = 0;  // calls in the program's text
  bool lowers = false;
};

struct ArchiveMethod {
  std::string name;
  std::string signature;             // "forward(x: Tensor, flag: bool = False) -> Tensor"
  std::vector<std::string> example;  // shapes of the recorded example inputs: "f32[1,3,8,8]"
};

struct ArchiveInfo {
  int version = 0;
  std::string class_name;
  std::vector<ArchiveMethod> methods;
  std::vector<ArchiveOperator> operators;  // most frequent first
  size_t tensors = 0;
  uint64_t parameters = 0, weight_bytes = 0;  // tied tensors once
};

ArchiveInfo archive_info(torchscript::Program& program);

// Whether staging or a lowering knows some overload of "aten::add_".
bool torch_operator_lowers(const std::string& name);

}  // namespace cameo::api
