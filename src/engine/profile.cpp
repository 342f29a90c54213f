#include "engine/profile.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include "formats/json.h"
#include "support/error.h"
#include "support/text.h"

namespace cameo::engine {

std::string chrome_trace(const std::vector<StepTime>& times) {
  json::Writer w;
  w.object().key("displayTimeUnit").value("ms").key("traceEvents").array();
  for (const StepTime& t : times) {
    w.object().key("name").value(t.node.empty() ? t.op : t.node).key("cat").value(t.op).key("ph").value("X");
    w.key("ts")
        .value(t.start_us - times.front().start_us)
        .key("dur")
        .value(t.length_us)
        .key("pid")
        .value(1)
        .key("tid")
        .value(1);
    w.key("args").object().key("op").value(t.op).key("kernel").value(t.kernel).end().end();
  }
  w.end().end();
  return w.text() + "\n";
}

std::string profile_table(const std::vector<StepTime>& times) {
  struct Row {
    std::string op, kernel;
    double us = 0;
    size_t count = 0;
  };
  std::map<std::pair<std::string, std::string>, Row> rows;
  double total = 0;
  for (const StepTime& t : times) {
    Row& r = rows[{t.op, t.kernel}];
    r.op = t.op, r.kernel = t.kernel;
    r.us += t.length_us, total += t.length_us;
    ++r.count;
  }
  std::vector<Row> sorted;
  for (auto& [key, r] : rows) sorted.push_back(std::move(r));
  std::sort(sorted.begin(), sorted.end(), [](const Row& a, const Row& b) { return a.us > b.us; });
  std::string out = " share        ms  count  step (kernel)\n";
  char text[64];
  for (const Row& r : sorted) {
    std::snprintf(text, sizeof text, "%5.1f%%  %8.3f  %5zu  ", total > 0 ? 100 * r.us / total : 0, r.us / 1000,
                  r.count);
    out += cat(text, printable(r.op), " (", r.kernel, ")\n");
  }
  std::snprintf(text, sizeof text, "100.0%%  %8.3f  %5zu  in all\n", total / 1000, times.size());
  return out + text;
}

}  // namespace cameo::engine
