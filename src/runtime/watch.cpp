#include "runtime/watch.h"

#include "support/error.h"

namespace cameo::runtime {

bool matches(std::string_view text, std::string_view pattern) {
  size_t t = 0, p = 0, star = pattern.npos, mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t]) && pattern[p] != '*') ++t, ++p;
    else if (p < pattern.size() && pattern[p] == '*') star = p++, mark = t;
    else if (star != pattern.npos) p = star + 1, t = ++mark;
    else return false;
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool matches(const Graph& g, NodeId n, std::string_view pattern) {
  return matches(g[n].name, pattern) || (!g[n].outputs.empty() && matches(g[g[n].outputs[0]].name, pattern));
}

std::vector<ValueId> matching_values(const Graph& g, const std::vector<std::string>& patterns) {
  std::vector<bool> wanted(g.value_capacity(), false);
  for (const std::string& pattern : patterns) {
    bool any = false;
    for (const NodeId n : g.nodes(g.main()))
      for (const ValueId v : g[n].outputs)
        if (matches(g[v].name, pattern) || (!g[n].name.empty() && matches(g[n].name, pattern)))
          wanted[v.index] = any = true;
    if (!any) throw error("run.no-match", cat("no value or node is called '", pattern, "'"));
  }
  for (const ValueId v : g[g.main()].outputs) wanted[v.index] = false;  // they are there already
  std::vector<ValueId> out;
  for (const NodeId n : g.nodes(g.main()))
    for (const ValueId v : g[n].outputs)
      if (wanted[v.index]) out.push_back(v);
  return out;
}

}  // namespace cameo::runtime
