// Where the time of a run went.
#pragma once

#include <string>
#include <vector>

#include "engine/session.h"

namespace cameo::engine {

std::string chrome_trace(const std::vector<StepTime>& times);  // JSON for chrome://tracing and Perfetto
// One row per kind of step, slowest first: share, total time, count, kernels.
std::string profile_table(const std::vector<StepTime>& times);

}  // namespace cameo::engine
