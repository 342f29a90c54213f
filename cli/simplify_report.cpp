#include "cli/simplify_report.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "cameo/face.h"
#include "cameo/json.h"
#include "cli/words.h"

namespace cameo::cli {

namespace {

std::string table(const SimplifyReport& r) {
  const Stats &a = r.result.before, &b = r.result.after;
  std::map<std::string, std::pair<size_t, size_t>> ops;
  for (const auto& [name, count] : a.operators) ops[name].first = count;
  for (const auto& [name, count] : b.operators) ops[name].second = count;
  size_t width = 10;
  for (const auto& [name, counts] : ops) width = std::max(width, std::min(printable_text(name).size(), widest_column));
  std::string out;
  const auto row = [&](const std::string& name, const std::string& before, const std::string& after) {
    out += cat(padded(printable_text(name), width), padded_left(before, 14), padded_left(after, 14), "\n");
  };
  row("operator", "before", "after");
  for (const auto& [name, counts] : ops) row(name, cat(counts.first), cat(counts.second));
  row("nodes", count_text(a.nodes), count_text(b.nodes));
  row("weights", bytes_text(a.weight_bytes), bytes_text(b.weight_bytes));
  if (r.bytes_before && r.bytes_after) row("file", bytes_text(*r.bytes_before), bytes_text(*r.bytes_after));
  row("MACs", a.macs, b.macs);
  return out;
}

void write_side(json::Writer& w, const std::string& key, const Stats& s, const std::optional<uint64_t>& bytes) {
  w.key(cat("operators_", key)).object();
  for (const auto& [name, count] : s.operators) w.key(name).value(uint64_t{count});
  w.end();
  if (bytes) w.key(cat("bytes_", key)).value(*bytes);
  w.key(cat("macs_", key));
  s.macs_are_known() ? w.raw(s.macs) : w.value(s.macs);
}

void print_json(const SimplifyReport& r, uint64_t peak, Out& out) {
  const Simplified& s = r.result;
  json::Writer w;
  w.object().key("nodes_before").value(uint64_t{s.before.nodes}).key("nodes_after").value(uint64_t{s.after.nodes});
  write_side(w, "before", s.before, r.bytes_before);
  write_side(w, "after", s.after, r.bytes_after);
  w.key("applications").value(uint64_t{s.ledger.size()}).key("rounds").value(uint64_t{s.rounds});
  w.key("ms").value(r.ms).key("peak_bytes").value(peak).end();
  out.line(w.text());
}

// The kernel's own figure where it tells: getrusage's begins with what the parent had at the fork.
uint64_t peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::strtoull(line.c_str() + 6, nullptr, 10) * 1024;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace

std::optional<uint64_t> file_bytes(const std::string& path) {
  std::error_code code;
  const auto n = path == "-" ? uintmax_t{0} : std::filesystem::file_size(path, code);
  return path == "-" || code ? std::nullopt : std::optional<uint64_t>(n);
}

void report_simplified(const SimplifyReport& r, Out& out) {
  if (out.json) return print_json(r, peak_bytes(), out);
  if (out.quiet) return;
  out.print(table(r));
  out.line(cat("time", padded_left(cat(static_cast<int64_t>(r.ms), " ms"), 20), ", peak memory ",
               bytes_text(peak_bytes()), ", ", plural(r.result.ledger.size(), "rewrite")));
}

}  // namespace cameo::cli
