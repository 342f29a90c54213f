// Every family of operators and the function that lists its rules. A new family is one line here.
#pragma once

#include <span>

#include "ops/op_def.h"

namespace cameo {

using Family = std::span<const OpRules> (*)();

std::span<const OpRules> concat_rules();

inline std::span<const Family> op_families() {
  static constexpr Family all[] = {
      concat_rules,
  };
  return all;
}

}  // namespace cameo
