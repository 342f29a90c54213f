#include "runtime/watch.h"

#include "formats/json.h"
#include "support/error.h"

namespace cameo {

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

Watch::Watch(const Graph& g, const std::vector<std::string>& patterns, bool times) : g_(g), wanted_(g.value_capacity(), false), times_(times) {
  for (const std::string& pattern : patterns) {
    bool any = false;
    for (const NodeId n : g.nodes(g.main()))
      for (const ValueId v : g[n].outputs)
        if (matches(g[v].name, pattern) || (!g[n].name.empty() && matches(g[n].name, pattern))) wanted_[v.index] = any = true;
    if (!any) throw error("run.no-match", cat("no value or node is called '", pattern, "'"));
  }
  begin_ = last_ = Clock::now();
}

ReferenceOptions Watch::options() {
  begin_ = last_ = Clock::now();
  ReferenceOptions o;
  o.observe = [this](ValueId v, const Datum& d) { seen(v, d); };
  return o;
}

// A node's outputs are reported one after the other, right after it ran: the first one tells how long it took.
void Watch::seen(ValueId v, const Datum& d) {
  if (wanted_[v.index]) kept.push_back({g_[v].name, d});
  if (!times_ || g_[v].def_index != 0) return;
  const auto now = Clock::now();
  using Micro = std::chrono::duration<double, std::micro>;
  spans_.push_back({g_[v].def, Micro(last_ - begin_).count(), Micro(now - last_).count()});
  last_ = now;
}

std::string Watch::trace() const {
  json::Writer w;
  w.object().key("displayTimeUnit").value("ms").key("traceEvents").array();
  for (const Span& s : spans_) {
    const Node& n = g_[s.node];
    w.object().key("name").value(n.name.empty() ? g_[n.outputs[0]].name : n.name).key("cat").value(n.op->name).key("ph").value("X");
    w.key("ts").value(s.start_us).key("dur").value(s.length_us).key("pid").value(1).key("tid").value(1).end();
  }
  w.end().end();
  return w.text() + "\n";
}

}  // namespace cameo
