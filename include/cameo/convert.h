// The same model in the words of another opset.
#pragma once

#include "cameo/model.h"

namespace cameo {

struct ConvertSettings {
  bool lossy = false;  // allow expansions that are wrong on inf, NaN or overflow, or approximate
};

// Up or down. Throws use.opset for an opset that there is not, convert.* with one finding per node that it cannot say.
Model convert(const Model& model, int opset, const ConvertSettings& settings = {});

}  // namespace cameo
