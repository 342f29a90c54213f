// Every family of rules. A new one is a line here and in tables.cpp. Order matters where several look at one operator:
// the first that applies wins.
#pragma once

#include <vector>

#include "passes/rule.h"

namespace cameo::passes {

// Rules that the engine's set has too.
Rule fold_chain();
Rule batchnorm_into_linear();
Rule gelu_erf();
Rule swish();
Rule attention_fusion();

std::vector<Rule> fold_rules();
std::vector<Rule> noop_rules();
std::vector<Rule> cast_rules_of_simplify();
std::vector<Rule> reshape_family_rules();
std::vector<Rule> transpose_family_rules();
std::vector<Rule> slice_family_rules();
std::vector<Rule> size_rules();
std::vector<Rule> algebra_rules();
std::vector<Rule> reduction_family_rules();
std::vector<Rule> einsum_family_rules();
std::vector<Rule> gather_family_rules();
std::vector<Rule> linear_rules();
std::vector<Rule> pad_family_rules();
std::vector<Rule> attention_fusion_rules();
std::vector<Rule> rotary_fusion_rules();
std::vector<Rule> layout_rules();
std::vector<Rule> control_rules();
std::vector<Rule> sequence_rules_of_simplify();
std::vector<Rule> activation_fusion_rules();
std::vector<Rule> norm_fusion_rules();

}  // namespace cameo::passes
