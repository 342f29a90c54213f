#include "cli/run_report.h"

#include <algorithm>
#include <cstdio>

#include "cameo/json.h"
#include "cli/words.h"

namespace cameo::cli {

namespace {

struct Times {
  double min = 0, median = 0, p99 = 0;
};
Times summary(std::vector<double> ms) {
  std::sort(ms.begin(), ms.end());
  const auto at = [&](double q) {
    return ms[std::min(ms.size() - 1, static_cast<size_t>(q * static_cast<double>(ms.size())))];
  };
  return {ms.front(), at(0.5), at(0.99)};
}

std::string type_of(const RunValue& v) {
  using Kind = RunValue::Kind;
  if (v.kind == Kind::sequence) return cat("sequence of ", v.items.size());
  if (v.kind == Kind::map) return cat("map of ", v.items.size());
  if (v.kind == Kind::nothing) return "none";
  std::string sizes;
  for (const int64_t n : v.array.shape) sizes += cat(sizes.empty() ? "" : ",", n);
  return cat(v.array.dtype, "[", sizes, "]");
}

void print_json(const RunReport& r, const Session& session, Out& out) {
  const Times t = summary(r.ms);
  json::Writer w;
  w.object().key("outputs").array();
  for (const auto& [name, v] : r.outputs) w.object().key("name").value(name).key("type").value(type_of(v)).end();
  w.end().key("runs").value(uint64_t{r.ms.size()});
  w.key("min_ms").value(t.min).key("median_ms").value(t.median).key("p99_ms").value(t.p99);
  w.key("first_ms").value(r.ms.front()).key("cpu_ms").value(summary(r.cpu_ms).median);
  w.key("arena_bytes").value(session.arena_bytes()).key("packed_bytes").value(session.packed_weight_bytes()).end();
  out.line(w.text());
}

}  // namespace

void report_run(const RunReport& r, const Session& session, Out& out) {
  if (out.json) return print_json(r, session, out);
  for (const auto& [name, v] : r.outputs) out.line(cat(name, "  ", type_of(v)));
  if (!r.timed) return;
  const Times t = summary(r.ms);
  char text[120];
  std::snprintf(text, sizeof text, "%zu runs: min %.3f ms, median %.3f ms, p99 %.3f ms", r.ms.size(), t.min, t.median,
                t.p99);
  out.line(text);
  std::snprintf(text, sizeof text, "memory: %.1f MiB for a run, %.1f MiB of packed weights",
                static_cast<double>(session.arena_bytes()) / 1048576,
                static_cast<double>(session.packed_weight_bytes()) / 1048576);
  out.line(text);
}

}  // namespace cameo::cli
