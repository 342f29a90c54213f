// Which operators a program calls, and how often its text does.
#pragma once

#include <string>
#include <vector>

#include "frontends/torchscript/program.h"

namespace cameo::torchscript {

struct OperatorCount {
  std::string name;  // "aten::conv2d"
  size_t count = 0;
};

// Every call in every function of the archive, by name.
std::vector<OperatorCount> operators(Program& program);

}  // namespace cameo::torchscript
