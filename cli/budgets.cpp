#include "cli/budgets.h"

#include <cstdio>
#include <cstdlib>
#include <string>

#if __has_include(<unistd.h>)
#include <unistd.h>
#endif

namespace cameo::cli {

namespace {

// "500M", "2G", "1.5G"; bytes without a letter.
uint64_t size_of(std::string_view text) {
  constexpr std::string_view letters = "KMGT";
  const std::string given(text);
  char* end = nullptr;
  const double number = std::strtod(given.c_str(), &end);
  std::string_view unit(end);
  if (unit.ends_with('B') || unit.ends_with('b')) unit.remove_suffix(1);
  if (unit.ends_with('i')) unit.remove_suffix(1);
  double bytes = number;
  if (unit.size() == 1 && letters.find(static_cast<char>(unit[0] & ~0x20)) != letters.npos)
    for (size_t i = 0; i <= letters.find(static_cast<char>(unit[0] & ~0x20)); ++i) bytes *= 1024;
  else if (!unit.empty()) bytes = -1;
  if (text.empty() || !(bytes >= 1) || bytes > 9e18)
    throw error("use.value", cat("--max-memory needs a size such as 500M or 2G, not '", text, "'"));
  return static_cast<uint64_t>(bytes);
}

// What the machine, or the group of processes that this one belongs to, has; 0: not known.
uint64_t machine_memory() {
  uint64_t least = 0;
#if __has_include(<unistd.h>)
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGE_SIZE);
  if (pages > 0 && page > 0) least = static_cast<uint64_t>(pages) * static_cast<uint64_t>(page);
#endif
  for (const char* file : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::FILE* f = std::fopen(file, "r");
    if (!f) continue;
    unsigned long long bytes = 0;
    if (std::fscanf(f, "%llu", &bytes) == 1 && bytes > 0 && (least == 0 || bytes < least)) least = bytes;
    std::fclose(f);
  }
  return least;
}

}  // namespace

Limits limits_of(std::span<const std::string_view> given, Out& out) {
  const Verb verb{"", "", "", "", budget_flags, 0, 0};
  const auto args = parse(verb, given, out);
  Limits limits;
  if (const auto memory = args->value("max-memory")) limits.memory_bytes = size_of(*memory);
  else limits.memory_bytes = machine_memory();
  limits.seconds = args->number("max-time", 0);
  if (args->has("max-time") && !(limits.seconds > 0 && limits.seconds < 1e9))
    throw error("use.value", "--max-time needs a number of seconds above 0");
  limits.turns = args->integer("max-turns", limits.turns, 1);
  limits.steps = static_cast<uint64_t>(args->integer("max-steps", static_cast<int64_t>(limits.steps), 1));
  return limits;
}

}  // namespace cameo::cli
