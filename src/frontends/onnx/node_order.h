// Nodes in an order in which every value is computed before it is used.
#pragma once

#include <vector>

#include "frontends/onnx/proto.h"

namespace cameo::onnx {

// The same messages, as near to their own order as can be; nodes that wait for each other stay at the end as they were.
std::vector<pb::Field> in_order(const std::vector<pb::Field>& nodes);

}  // namespace cameo::onnx
