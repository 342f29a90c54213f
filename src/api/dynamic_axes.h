// torch.onnx's dynamic_axes as JSON.
#pragma once

#include "formats/json.h"

#include "cameo/export.h"

namespace cameo {

// Lists of axes get names as torch makes them up; maps name each axis. Throws use.dynamic-axes.
std::vector<DynamicAxis> dynamic_axes_of(const json::Value& axes);

}  // namespace cameo
