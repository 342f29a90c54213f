// Passes of onnxoptimizer, which onnxsim runs, and the rules that do the same here.
#include <algorithm>

#include "support/error.h"
#include "support/near_name.h"

#include "api/state.h"
#include "cameo/simplify.h"

namespace cameo {

namespace {

struct Pass {
  std::string_view name;
  std::string_view rules;  // separated by blanks; none: what it does happens outside of rules, or not at all
};

// clang-format off
constexpr Pass table[] = {
    {"adjust_add", ""},
    {"adjust_slice_and_matmul", ""},
    {"eliminate_common_subexpression", "common-subexpression"},
    {"eliminate_consecutive_idempotent_ops", "idempotent"},
    {"eliminate_deadend", ""},
    {"eliminate_duplicate_initializer", "equal-weights"},
    {"eliminate_identity", "identity"},
    {"eliminate_if_with_const_cond", "if-decided"},
    {"eliminate_nop_cast", "cast-to-own-type cast-like-own-type cast-cast"},
    {"eliminate_nop_concat", "concat-of-one concat-with-empty"},
    {"eliminate_nop_dropout", "dropout"},
    {"eliminate_nop_expand", "expand-to-own-shape"},
    {"eliminate_nop_flatten", "flatten-of-matrix"},
    {"eliminate_nop_monotone_argmax", ""},
    {"eliminate_nop_pad", "pad-by-nothing"},
    {"eliminate_nop_reshape", "reshape-to-own-shape"},
    {"eliminate_nop_split", "split-into-one"},
    {"eliminate_nop_transpose", "transpose-by-identity"},
    {"eliminate_nop_with_unit", "add-zero sub-zero mul-one div-one pow-one and-true or-false"},
    {"eliminate_shape_gather", "gather-concat concat-gather"},
    {"eliminate_shape_op", "shape-of-source shape-of-earlier"},
    {"eliminate_slice_after_shape", "slice-by-constant"},
    {"eliminate_unused_initializer", ""},
    {"extract_constant_to_initializer", "constant-to-weight"},
    {"fuse_add_bias_into_conv", "shift-into-linear"},
    {"fuse_bn_into_conv", "batchnorm-into-linear"},
    {"fuse_concat_into_reshape", "reshape-by-constant reshape-reshape-computed"},
    {"fuse_consecutive_concats", "concat-concat"},
    {"fuse_consecutive_log_softmax", "log-softmax"},
    {"fuse_consecutive_reduce_unsqueeze", "keepdims"},
    {"fuse_consecutive_slices", "slice-slice"},
    {"fuse_consecutive_squeezes", "squeeze-unsqueeze squeeze-nothing"},
    {"fuse_consecutive_transposes", "transpose-transpose"},
    {"fuse_consecutive_unsqueezes", "squeeze-unsqueeze"},
    {"fuse_matmul_add_bias_into_gemm", "matmul-add-to-gemm add-into-gemm"},
    {"fuse_pad_into_conv", "pad-into-conv pad-into-conv-integer"},
    {"fuse_pad_into_pool", "pad-into-average-pool pad-into-max-pool"},
    {"fuse_qkv", ""},
    {"fuse_transpose_into_gemm", "transpose-into-gemm"},
    {"lift_lexical_references", ""},
    {"nop", ""},
    {"rename_input_output", ""},
    {"replace_einsum_with_matmul", "einsum-to-matmul einsum-to-transpose"},
    {"rewrite_input_dtype", ""},
    {"rewrite_where", "where-not"},
    {"set_unique_name_for_nodes", ""},
    {"split_init", ""},
    {"split_predict", ""},
};
// clang-format on

}  // namespace

std::vector<std::string> rules_of_pass(std::string_view pass) {
  const auto* row = std::find_if(std::begin(table), std::end(table), [&](const Pass& p) { return p.name == pass; });
  const auto own = rules();
  if (row == std::end(table)) {
    if (std::any_of(own.begin(), own.end(), [&](const RuleInfo& r) { return r.name == pass; }))
      return {std::string(pass)};
    std::vector<std::string_view> names;
    for (const Pass& p : table) names.push_back(p.name);
    Error unknown = error("use.value", cat("'", pass, "' is neither a pass of onnxoptimizer nor a rule of Cameo"));
    if (const auto near = support::nearest(pass, names); !near.empty())
      unknown.diag().hint = cat("did you mean ", near, "?");
    throw unknown;
  }
  std::vector<std::string> out;
  for (std::string_view rest = row->rules; !rest.empty();) {
    const size_t end = std::min(rest.find(' '), rest.size());
    out.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

}  // namespace cameo
