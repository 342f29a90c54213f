#include "passes/rules/tables.h"

namespace cameo::passes {

const std::vector<Rule>& all_rules() {
  static const std::vector<Rule> all = [] {
    std::vector<Rule> out;
    for (const auto family : {fold_rules,
                              noop_rules,
                              cast_rules_of_simplify,
                              reshape_family_rules,
                              transpose_family_rules,
                              slice_family_rules,
                              size_rules,
                              attention_fusion_rules,
                              rotary_fusion_rules,
                              layout_rules,
                              control_rules,
                              sequence_rules_of_simplify,
                              activation_fusion_rules,
                              norm_fusion_rules,
                              linear_rules,
                              pad_family_rules,
                              algebra_rules,
                              reduction_family_rules,
                              einsum_family_rules,
                              gather_family_rules})
      for (Rule& r : family()) out.push_back(std::move(r));
    return out;
  }();
  return all;
}

}  // namespace cameo::passes
