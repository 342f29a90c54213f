#include "engine/profile.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include "formats/json.h"
#include "support/error.h"
#include "support/text.h"
#include "support/number_text.h"

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
  const auto right = [](std::string text, size_t width) {
    return text.insert(0, width > text.size() ? width - text.size() : 0, ' ');
  };
  const auto line = [&](double share, double us, size_t count) {
    return cat(right(fixed_text(share, 1), 5), "%  ", right(fixed_text(us / 1000, 3), 8), "  ", right(cat(count), 5),
               "  ");
  };
  for (const Row& r : sorted)
    out += cat(line(total > 0 ? 100 * r.us / total : 0, r.us, r.count), printable(r.op), " (", r.kernel, ")\n");
  return out + line(100, total, times.size()) + "in all\n";
}

}  // namespace cameo::engine
