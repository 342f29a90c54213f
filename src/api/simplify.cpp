// include/cameo/simplify.h.
#include <algorithm>

#include "api/simplify_check.h"
#include "backends/onnx/lean.h"
#include "ops/schema.h"
#include "passes/edit.h"
#include "support/budget.h"
#include "support/near_name.h"

#include "api/state.h"
#include "cameo/simplify.h"

namespace cameo {

namespace {

void tell(const Progress& progress, uint64_t done, uint64_t all) {
  if (progress && !progress("simplifying", done, all)) throw error("budget.interrupted", "interrupted");
}

passes::SimplifyOptions options_of(const SimplifySettings& s) {
  passes::SimplifyOptions o;
  o.skip = s.skip;
  o.only = s.only;
  o.exact = s.exact;
  o.freeze_initializers = s.freeze_initializers;
  o.fuse = s.fuse;
  o.fold = s.fold;
  o.sizes_may_be_zero = s.sizes_may_be_zero;
  o.unroll = s.unroll;
  if (s.progress) o.progress = [&s](size_t done, size_t left) { tell(s.progress, done, done + left); };
  return o;
}

Rewriting rewriting_of(const passes::Application& a) {
  return {std::string(a.rule), std::string(passes::name(a.exactness)), a.value, a.removed, a.added};
}

std::vector<Rewriting> rewritings(const std::vector<passes::Application>& all) {
  std::vector<Rewriting> out;
  for (const auto& a : all) out.push_back(rewriting_of(a));
  return out;
}

void check_rule(const std::string& rule) {
  std::vector<std::string_view> names;
  for (const auto& r : passes::rule_list()) names.push_back(r.name);
  if (std::find(names.begin(), names.end(), rule) != names.end()) return;
  const auto close = support::nearest(rule, names);
  throw error("use.rule", cat("there is no rule '", rule, "'"))
      .help(close.empty() ? "cameo simplify --list-rules lists them" : cat("did you mean ", close, "?"));
}

}  // namespace

Simplified simplify(const Model& model, const SimplifySettings& settings) {
  ModelState s = ModelState::changed(model);
  tell(settings.progress, 0, 1);
  for (const auto& [name, sizes] : settings.input_shapes) passes::fix_shape(s.model, name, sizes);
  const int64_t opset = opset_of(s);
  support::DiagSink diags;
  std::vector<passes::Application> ledger, undone;
  size_t checked = 0;
  double worst = 0;
  if (settings.check == 0)
    ledger = backends::simplify_for_opset(s.model, opset, options_of(settings), false, &diags).ledger;
  else {
    api::CheckOptions check;
    check.inputs = settings.check;
    check.sizes = settings.check_sizes;
    check.tolerance.rtol = settings.rtol;
    check.tolerance.atol = settings.atol;
    api::CheckedResult result = api::simplify_checked(s.model, opset, options_of(settings), check, &diags);
    for (const auto& a : result.undone)
      diags.warn("simplify.undone",
                 cat("the rewrite ", a.rule, " at '", a.value, "' changed an output and was undone"));
    for (const std::string& why : result.skipped)
      diags.warn("simplify.not-checked", cat("one set of inputs could not be run: ", why));
    ledger = std::move(result.result.ledger);
    undone = std::move(result.undone);
    checked = result.compared;
    worst = result.worst;
  }
  if (settings.shapes) s.write.value_info = backends::WriteOptions::ValueInfo::all;
  s.findings = std::move(diags.all());
  std::vector<Diag> findings = s.findings;
  return {ModelState::make(std::move(s)), rewritings(ledger), rewritings(undone), checked, worst, std::move(findings)};
}

std::vector<RuleInfo> rules() {
  std::vector<RuleInfo> out;
  for (const auto& r : passes::rule_list())
    out.push_back({std::string(r.name), std::string(passes::name(r.exactness))});
  return out;
}

Explanation explain(const Model& model, const std::string& rule, int opset) {
  if (!rule.empty()) check_rule(rule);
  ModelState s = ModelState::changed(model);
  passes::SimplifyOptions options;
  options.opset = opset ? known_opset(opset) : opset_of(s);
  options.keep_misses = true;
  const auto result = passes::simplify(s.model, options);
  Explanation out;
  const auto asked = [&](std::string_view name) { return rule.empty() || name == rule; };
  for (const auto& a : result.ledger)
    if (asked(a.rule)) out.applied.push_back({std::string(a.rule), a.value, ""});
  std::map<std::pair<std::string, std::string>, std::string> missed;  // the last reason counts
  for (const auto& m : result.misses)
    if (asked(m.rule)) missed[{std::string(m.rule), m.value}] = m.why;
  for (const auto& [place, why] : missed) out.refused.push_back({place.first, place.second, why});
  for (const passes::Rule& r : passes::all_rules())
    if (asked(r.name))
      for (const std::string_view op : r.makes)
        if (!ops::find_op("", op)->at(options.opset))
          out.waiting.push_back(cat(rule.empty() ? cat(r.name, ": ") : "", "opset ", options.opset, " has no ", op,
                                    ": the rule waits for opset ", ops::find_op("", op)->first_version()));
  return out;
}

}  // namespace cameo
