// The engine's own families of rules (passes/engine_set.h has the stages they belong to).
#pragma once

#include <vector>

#include "passes/rule.h"

namespace cameo::passes {

std::vector<Rule> half_rules();
std::vector<Rule> integer_rules();
std::vector<Rule> batchnorm_rules();
std::vector<Rule> attention_head_rules();
std::vector<Rule> pool_rules();

}  // namespace cameo::passes
