// What samples give no ranges for: LSTM, and products in bodies. Their data is rounded while the model runs.
#pragma once

#include "quant/dynamic/dynamic.h"

namespace cameo::quant {

// With com.microsoft's operators. Nodes that `keep` names stay as they are. Rows of what was changed; empty: nothing.
std::vector<DynamicRow> quantize_rest(Model& m, const std::vector<std::string>& keep);

}  // namespace cameo::quant
