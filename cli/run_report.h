// What `cameo run` tells: types of the outputs, times, memory.
#pragma once

#include <vector>

#include "cameo/session.h"
#include "cli/out.h"

namespace cameo::cli {

struct RunReport {
  std::vector<NamedValue> outputs = {};
  std::vector<double> ms = {}, cpu_ms = {};  // of each run
  bool timed = false;                        // people want the times too
};
void report_run(const RunReport& r, const Session& session, Out& out);

}  // namespace cameo::cli
