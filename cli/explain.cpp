// cameo explain: where a rewrite applied, and why it did not elsewhere.
#include <map>

#include "cameo/json.h"
#include "cameo/simplify.h"
#include "cli/opened.h"
#include "cli/verb.h"
#include "cli/verbs.h"

namespace cameo::cli {

namespace {

constexpr Flag flags[] = {
    {"rule", 0, "RULE", "one rule; default: how often each rule applied or nearly did"},
    {"opset", 0, "N", "look at the model as if it were written in this opset; default: its own"},
};
constexpr Verb verb{"explain",
                    "IN",
                    "where a rewrite applied, and why it did not elsewhere",
                    "cameo explain net.onnx --rule gelu",
                    flags,
                    1,
                    1};

void one_rule(Out& out, const std::string& rule, const Explanation& e) {
  for (const std::string& text : e.waiting) out.say(text);
  const auto line = [&](const Explanation::Place& p) {
    if (!out.json)
      return out.line(p.why.empty() ? cat(rule, " applied at '", p.value, "'")
                                    : cat(rule, " refused at '", p.value, "': ", p.why));
    json::Writer w;
    w.object().key("rule").value(rule).key("value").value(p.value).key("applied").value(p.why.empty());
    if (!p.why.empty()) w.key("why").value(p.why);
    out.line(w.end().text());
  };
  for (const auto& p : e.applied) line(p);
  for (const auto& p : e.refused) line(p);
  if (e.applied.empty() && e.refused.empty()) out.say(cat(rule, ": nothing in the model looks like it"));
}

void all_rules(Out& out, const Explanation& e) {
  std::map<std::string, std::pair<uint64_t, uint64_t>> counts;
  for (const auto& p : e.applied) ++counts[p.rule].first;
  for (const auto& p : e.refused) ++counts[p.rule].second;
  for (const auto& [name, n] : counts) {
    json::Writer w;
    w.object().key("rule").value(name).key("applied").value(n.first).key("refused").value(n.second).end();
    out.line(out.json ? std::string(w.text()) : cat(name, ": applied ", n.first, ", refused ", n.second));
  }
}

}  // namespace

int explain_main(Raw raw, Out& out) {
  const auto args = parse(verb, raw, out);
  if (!args) return 0;
  const std::string rule = args->text("rule", "");
  const auto opset = static_cast<int>(args->integer("opset", 0, 7, 1000));
  const Explanation e = explain(opened(args->operands[0], out), rule, opset);
  if (rule.empty()) all_rules(out, e);
  else one_rule(out, rule, e);
  return 0;
}

}  // namespace cameo::cli
