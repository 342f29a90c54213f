// Operators of PyTorch that stand for nodes of ONNX: torch.onnx.ops.symbolic, symbolic_multi_out, rotary_embedding,
// attention.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cameo/lowering.h"

namespace cameo::api {

using DomainVersions = std::map<std::string, int64_t>;

bool is_onnx_call(std::string_view op);      // with its overload or without
std::vector<std::string_view> onnx_calls();  // all of them, without overloads

// The nodes that such a call stands for; versions of their domains go to `versions`.
std::vector<LoweringValue> lower_onnx_call(NodeBuilder& g, const LoweringCall& call, DomainVersions& versions);

}  // namespace cameo::api
