// Which ONNX operators a lowering emits, found by calling it on made-up arguments.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "lowering/row.h"

namespace cameo::tests {

struct Probe {
  std::set<std::string> onnx;  // empty where nothing but known values came out
  int64_t from_opset = 0;      // the oldest opset that can express what was emitted; 0: none, or nothing was emitted
};

// A call as call_text.h writes it; nothing when the lowering does not take it.
std::optional<Probe> probe_call(std::string_view text);
// One of the ways to make arguments up.
std::optional<Probe> probe_lowering(const Row& row, const Schema& schema, size_t plan);
// The call itself, as call_text.h writes it.
std::optional<std::string> call_that_works(const Row& row, const Schema& schema, size_t plan);
size_t plan_count();

}  // namespace cameo::tests
