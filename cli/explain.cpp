// cameo explain: where a rewrite applied, and why it did not elsewhere.
#include <algorithm>
#include <map>

#include "cli/common.h"
#include "cli/verbs.h"
#include "formats/json.h"
#include "passes/simplify.h"
#include "support/error.h"

namespace cameo::cli {

namespace {

constexpr Flag flags[] = {
    {"rule", 0, "RULE", "one rule; without it, how often each applied and nearly did"},
    {"opset", 0, "N", "as if written for this opset; the model's own unless said"},
};
constexpr Verb verb{"explain", "IN", "where a rewrite applied, and why it did not elsewhere", "cameo explain net.onnx --rule gelu", flags, 1, 1};

struct Tally {
  std::vector<std::string> applied;
  std::map<std::string, std::string> missed;  // by value: why
};

std::map<std::string, Tally> tally(const SimplifyResult& r) {
  std::map<std::string, Tally> out;
  for (const Application& a : r.ledger) out[std::string(a.rule)].applied.push_back(a.value);
  for (const NearMiss& m : r.misses) out[std::string(m.rule)].missed[m.value] = m.why;
  return out;
}

const Rule* find_rule(std::string_view name) {
  for (const Rule& r : all_rules())
    if (r.name == name) return &r;
  return nullptr;
}

void check_rule(const std::string& rule) {
  const auto all = rule_list();
  if (std::any_of(all.begin(), all.end(), [&](const RuleInfo& r) { return r.name == rule; })) return;
  std::vector<std::string_view> names;
  for (const RuleInfo& r : all) names.push_back(r.name);
  const auto close = nearest(rule, names);
  throw error("use.rule", cat("there is no rule '", rule, "'")).help(close.empty() ? "cameo simplify --list-rules lists them" : cat("did you mean ", close, "?"));
}

void one_rule(Out& out, const std::string& rule, const Tally& t, int64_t opset) {
  if (const Rule* r = find_rule(rule))
    for (const std::string_view op : r->makes)
      if (!find_op("", op)->at(opset)) out.say(cat("opset ", opset, " has no ", op, ": the rule waits for opset ", find_op("", op)->first_version()));
  const auto line = [&](const std::string& value, std::string_view why) {
    if (!out.json) return out.line(why.empty() ? cat(rule, " applied at '", value, "'") : cat(rule, " refused at '", value, "': ", why));
    json::Writer w;
    w.object().key("rule").value(rule).key("value").value(value).key("applied").value(why.empty());
    if (!why.empty()) w.key("why").value(why);
    out.line(w.end().text());
  };
  for (const std::string& value : t.applied) line(value, "");
  for (const auto& [value, why] : t.missed) line(value, why);
  if (t.applied.empty() && t.missed.empty()) out.say(cat(rule, ": nothing in the model looks like it"));
}

}  // namespace

int explain_main(Raw raw, Out& out) {
  const auto args = parse(verb, raw, out);
  if (!args) return 0;
  const std::string rule = args->text("rule", "");
  if (!rule.empty()) check_rule(rule);
  Model m = open_model(args->operands[0], out);
  const auto own = m.opsets.find("");
  SimplifyOptions options;
  options.opset = args->integer("opset", own == m.opsets.end() ? newest_released_opset : own->second, 7, newest_opset);
  options.keep_misses = true;
  const auto by_rule = tally(simplify(m, options));
  if (!rule.empty()) {
    const auto it = by_rule.find(rule);
    one_rule(out, rule, it == by_rule.end() ? Tally{} : it->second, options.opset);
    return 0;
  }
  for (const auto& [name, t] : by_rule) {
    json::Writer w;
    w.object().key("rule").value(name).key("applied").value(uint64_t{t.applied.size()}).key("refused").value(uint64_t{t.missed.size()}).end();
    out.line(out.json ? std::string(w.text()) : cat(name, ": applied ", t.applied.size(), ", refused ", t.missed.size()));
  }
  return 0;
}

}  // namespace cameo::cli
